// Those who ask and watch from outside, while the key of the cluster is changed.
#include <chrono>
#include <memory>
#include <string>

#include <bullring/bullring.hpp>
#include <doctest/doctest.h>

#include "src/base/os/private_file.hpp"
#include "src/security/key_file.hpp"
#include "tests/support/library_cluster.hpp"

namespace bullring::library_rotation_test {

using namespace test;

TEST_SUITE_BEGIN("realtime");
namespace {

void write_key(const std::string& path, const Key& key) {
    REQUIRE(replace_file(path, line_of(key).view(), secret_mode).has_value());
}

ObserverSecurity by_key(const std::string& file) {
    ObserverSecurity security;
    security.security = "key";
    security.key_file = file;
    return security;
}

bool is_let_in(const Administrator& administrator) {
    const auto limit = std::chrono::steady_clock::now() + generous;
    while (administrator.members().members.empty())
        if (std::chrono::steady_clock::now() > limit) return false;
    return true;
}

}  // namespace

TEST_CASE("library: an observer and an administrator go on with a new key") {
    const LibraryCluster cluster(1);
    const Key first = new_key().value();
    const Key second = new_key().value();
    const std::string of_nodes = cluster.directory() / "nodes.key";
    const std::string of_observers = cluster.directory() / "observers.key";
    const std::string new_from_the_start = cluster.directory() / "new.key";
    write_key(of_nodes, first);
    write_key(of_observers, first);
    write_key(new_from_the_start, second);
    Options options = cluster.options(1);
    options.security = "key";
    options.key_file = of_nodes;
    options.fast_release = FastRelease::off;  // no second process of a test's
    auto node = std::make_unique<Node>(options);
    node->start();
    const Administrator administrator(cluster.peers(), "bullring", by_key(of_observers));
    Notes<Change> changes;
    Observer watching(cluster.peers(), "bullring", by_key(of_observers));
    const Subscription subscription =
        watching.subscribe([&](const Change& change) { changes.add(change); });
    const auto before = watching.wait_for_leader(generous).value();

    write_key(of_nodes, second);
    write_key(of_observers, second);
    REQUIRE(is_let_in(Administrator(cluster.peers(), "bullring", by_key(new_from_the_start))));
    CHECK(is_let_in(administrator));
    node->stop();
    node = std::make_unique<Node>(options);
    node->start();
    CHECK(changes.wait_for([&](const auto& all) {
        return all.back().leader && all.back().leader->epoch > before.epoch;
    }));
}

TEST_SUITE_END();

}  // namespace bullring::library_rotation_test
