// Lists of members, addresses, IDs, and names of hosts that end in a number. What is read is sound,
// and its own text means the same.
#include <set>

#include "src/base/text/endpoint.hpp"
#include "src/base/text/interface_address.hpp"
#include "src/base/text/text.hpp"
#include "tests/fuzz/input.hpp"

using namespace bullring;

namespace {

void check(const Endpoint& endpoint) {
    fuzz::expect(!endpoint.host.empty() && endpoint.port != 0, "an address without its parts");
    const auto again = parse_endpoint(to_text(endpoint));
    fuzz::expect(again && *again == endpoint, "its own text is another address");
}

void check_fit_to_be_shown(const std::string& problem) {
    fuzz::expect(!problem.empty(), "a text is refused without a reason");
    fuzz::expect(problem == one_line(problem), "a problem that a terminal would obey");
}

void check_list(std::string_view text) {
    const ParsedPeers parsed = parse_peers(text);
    for (const std::string& problem : parsed.problems) check_fit_to_be_shown(problem);
    if (!parsed.problems.empty()) return;
    fuzz::expect(!parsed.peers.empty() && parsed.peers.size() <= 64, "a list of no cluster");
    std::set<std::string> addresses;
    std::string again;
    for (const auto& [id, endpoint] : parsed.peers) {
        fuzz::expect(id.value != 0 && id.value <= INT64_MAX, "an ID out of range");
        check(endpoint);
        fuzz::expect(addresses.insert(to_text(endpoint)).second, "an address twice");
        again += std::to_string(id.value) + "=" + to_text(endpoint) + "\n";
    }
    fuzz::expect(parse_peers(again).peers == parsed.peers, "its own text is another list");
}

void check_addresses(std::string_view text) {
    const ParsedAddresses parsed = parse_addresses(text);
    for (const std::string& problem : parsed.problems) check_fit_to_be_shown(problem);
    for (const InterfaceAddress& address : parsed.addresses) {
        const auto again = parse_interface_address(to_text(address));
        fuzz::expect(again && *again == address, "its own text is another address");
        fuzz::expect(is_host(address, host_text(address)), "it is not the host that it is");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const std::string text(input.rest());
    check_list(text);
    if (const auto endpoint = parse_endpoint(text))
        check(*endpoint);
    else
        check_fit_to_be_shown(endpoint.error());
    if (const auto id = parse_node_id(text))
        fuzz::expect(id->value != 0 && id->value <= INT64_MAX, "an ID out of range");
    if (const auto id = node_id_of_host(text))
        fuzz::expect(id->value != 0 && id->value <= INT64_MAX, "an ID out of range");
    check_addresses(text);
    fuzz::expect(is_utf8(one_line(text)) && is_utf8(in_quotes(text)), "what is shown is no UTF-8");
    return 0;
}
