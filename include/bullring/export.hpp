// Owns: the mark of what the library shows to its users; everything else in it is hidden.
#pragma once

#define BULLRING_API __attribute__((visibility("default")))
