// Which addresses this machine has.
#pragma once

#include <string>

#include <asio/ip/address.hpp>

namespace bullring::doctor {

/// Whether an interface that is up has it. An IPv4 address inside IPv6 is that IPv4 address.
bool is_on_this_machine(const asio::ip::address& address);

}  // namespace bullring::doctor
