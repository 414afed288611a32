// Owns: the mark of the symbols that the library exports; all others are hidden.
#pragma once

#define BULLRING_API __attribute__((visibility("default")))
