// Leads a cluster of one for a moment. Usage: consumer PORT DATA-DIR
#include <cstdio>
#include <string>

#include <bullring/bullring.hpp>

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    bullring::Options options;
    options.id = 1;
    options.peers = std::string("1=127.0.0.1:") + argv[1];
    options.data_dir = argv[2];
    options.profile = bullring::Profile::fast;
    bullring::Node node(options);
    unsigned long long epoch = 0;
    const bullring::Administrator administrator = node.administrator();
    bool changed = false;
    node.run_while_leader([&](const bullring::Leadership& lead) {
        if (lead.valid()) epoch = lead.epoch();
        changed = administrator.add(2, "127.0.0.1:9").done && administrator.remove(2).done &&
                  node.members().members.size() == 1;
        node.stop();
    });
    std::printf("led in epoch %llu, version %s\n", epoch, std::string(bullring::version).c_str());
    return epoch != 0 && changed ? 0 : 1;
}
