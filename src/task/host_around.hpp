// A host that wraps another one, the inner host, and sits between it and the node. Calls that the
// derived host does not override pass between the two unchanged.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <asio/io_context.hpp>

#include "src/task/task_host.hpp"

namespace bullring {

class HostAround : public TaskHost, protected NodeLink {
public:
    void publish(const protocol::Publish& publish) override { inner_->publish(publish); }
    void stopping() override { inner_->stopping(); }
    void try_again() override { inner_->try_again(); }
    void file_removed(const std::string& name) override { inner_->file_removed(name); }
    void directory_misplaced(const std::string& why) override { inner_->directory_misplaced(why); }
    int exit_status() const override { return inner_->exit_status(); }
    SessionKeeper* session_keeper() override { return inner_->session_keeper(); }

protected:
    explicit HostAround(NodeLink& node) : node_(node) {}

    /// Once, when this host can be spoken to. `make_inner`: none is NoTask.
    void enclose(asio::io_context& io, const MakeHost& make_inner) {
        NodeLink& self = *this;
        inner_ = make_inner ? make_inner(io, self) : std::make_unique<NoTask>(self);
    }
    /// At the end of the derived destructor: until it returns the inner host may use all of this.
    void end_inner() { inner_.reset(); }
    NodeLink& node() { return node_; }
    TaskHost& inner() { return *inner_; }

    // The inner host's calls.
    void tell(const protocol::Event& event) override { node_.tell(event); }
    void shut_down(const std::string& reason) override { node_.shut_down(reason); }
    void set_health(bool healthy, const std::string& why) override {
        node_.set_health(healthy, why);
    }
    void set_willing(bool willing, const std::string& why) override {
        node_.set_willing(willing, why);
    }
    void set_joining(const std::string& what) override { node_.set_joining(what); }
    void task_runs(bool runs, const std::string& end) override { node_.task_runs(runs, end); }
    void lead_commands(std::size_t count) override { node_.lead_commands(count); }
    void attached(std::size_t candidates, const std::optional<AttachedHolder>& holder) override {
        node_.attached(candidates, holder);
    }
    protocol::Instant untied_until() const override { return node_.untied_until(); }
    void listen(NodeListener& listener) override { node_.listen(listener); }

private:
    NodeLink& node_;
    std::unique_ptr<TaskHost> inner_;
};

}  // namespace bullring
