// Measures the calls that a user of the library makes before every write: Leadership::valid() and
// report_progress().
//
// Usage: bullring_valid_cost PORT DATA-DIR
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string>

#include <bullring/bullring.hpp>

namespace {

constexpr int calls = 100'000;

/// The median of many batches, in ns a call: other processes disturb some of them.
template <class Call>
double median_ns(Call call) {
    std::array<double, 21> batches{};
    for (double& batch : batches) {
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < calls; ++i) call();
        const std::chrono::duration<double, std::nano> took =
            std::chrono::steady_clock::now() - begin;
        batch = took.count() / calls;
    }
    std::sort(batches.begin(), batches.end());
    return batches[batches.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    bullring::Options options;
    options.id = 1;
    options.peers = std::string("1=127.0.0.1:") + argv[1];
    options.data_dir = argv[2];
    bullring::Node node(options);
    bool always = true;
    node.run_while_leader([&](const bullring::Leadership& lead) {
        const double valid = median_ns([&] { always = lead.valid() && always; });
        const double progress = median_ns([&] { lead.report_progress(); });
        std::printf("library: valid() %.0f ns, report_progress() %.0f ns (medians of 21 batches)\n",
                    valid, progress);
        node.stop();
    });
    return always ? 0 : 1;
}
