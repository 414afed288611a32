// Owns: giving back what only the start of the program has needed of its libraries.
#pragma once

namespace bullring {

/// Of the program alone, never of a library's host: unmaps the pages of the libraries that an
/// election without security needs nothing of. What security or HTTP need comes back with their
/// first use, at the start. They are the files' own and unchanged; whoever needs one after
/// all reads it again from the page cache.
void release_startup_pages();

}  // namespace bullring
