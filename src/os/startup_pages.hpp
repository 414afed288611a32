// Owns: giving back what only the start of the program has needed of its libraries.
#pragma once

namespace bullring {

/// Of the program alone, never of a library's host: unmaps the pages of the libraries that are done
/// with once the options are read. They are the files' own and unchanged; whoever needs one after
/// all reads it again from the page cache.
void release_startup_pages();

}  // namespace bullring
