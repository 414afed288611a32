// Owns: whether the interface of a leader's addresses can be used. A node whose interface is down,
// has no carrier or is gone does not stand; a leader hands over, since nobody could reach its
// addresses, while the nodes may still hear each other by another way.
#pragma once

#include <string>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>

#include "src/task/host_around.hpp"

namespace bullring {

/// Why it can't be used, as "eth0 is down"; empty if it can be.
std::string why_unusable(const std::string& device);

class LinkWatch final : public HostAround {
public:
    /// Throws std::system_error when the kernel does not report changes.
    LinkWatch(asio::io_context& io, NodeLink& node, std::string device, const MakeHost& make_inner);
    ~LinkWatch() override;

    void start(protocol::Epoch epoch) override;
    void stop(protocol::Epoch epoch, protocol::DeposedReason reason) override;

protected:
    void set_willing(bool willing, const std::string& why) override;

private:
    void wait_for_change();
    void look();
    void hand_over();

    std::string device_;
    asio::posix::stream_descriptor changes_;
    std::string unusable_;
    bool leads_ = false;
    // As the inner host has said last.
    bool willing_ = true;
    std::string why_unwilling_;
};

}  // namespace bullring
