// The part of Asio that is no template, compiled once for all rooms.
#include <asio/impl/src.hpp>
