// The part of Asio that is no template, compiled once for all rooms. (A project around this one may
// have it all in headers.)
#include <asio/detail/config.hpp>

#ifdef ASIO_SEPARATE_COMPILATION
#include <asio/impl/src.hpp>
#endif
