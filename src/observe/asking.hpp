// Owns: asking all members at once what they know.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <asio/awaitable.hpp>

#include "src/base/text/endpoint.hpp"
#include "src/observe/observer_link.hpp"
#include "src/observe/status_report.hpp"

namespace bullring {

/// "it refuses: cluster is "blue" there, "green" here".
std::string difference(const ObserverRefused& refused);

using Enough = std::function<bool(const std::vector<MemberAnswer>&)>;

/// Asks every member for its status at once and waits for all of them, until the deadline, or (when
/// `enough` is given) until it says so, once a majority of `peers` has answered as of one cluster.
/// Those whom a changed list of members names are asked, too.
/// Where the newest list has another address than `peers`, both are asked: an answer at one says
/// nothing of the other. The answers are in the order of ids, one each; of members that `peers`
/// does not have those of the newest list.
asio::awaitable<std::vector<MemberAnswer>> ask_members(ObserverLoop& loop, const PeerList& peers,
                                                       std::string cluster, Deadline deadline,
                                                       Enough enough = {});

/// The same of these and of nobody else.
asio::awaitable<std::vector<MemberAnswer>> ask_only(ObserverLoop& loop, const PeerList& peers,
                                                    std::string cluster, Deadline deadline);

/// Asks whoever is at these addresses, and at those that their lists of members have, changed or
/// not; where a name stands for several machines all of them. An answer for each question, with the
/// ID that it names, or `nobody`.
asio::awaitable<std::vector<MemberAnswer>> ask_anybody(ObserverLoop& loop,
                                                       std::vector<Endpoint> addresses,
                                                       std::string cluster, Deadline deadline);

/// Asks the node with this data directory, on this machine.
asio::awaitable<MemberAnswer> ask_locally(ObserverLoop& loop, std::string data_dir,
                                          Deadline deadline);

}  // namespace bullring
