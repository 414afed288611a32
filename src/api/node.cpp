// The public Node forwards every call to NodeCore.
#include <stdexcept>
#include <utility>

#include <bullring/node.hpp>

#include "src/api/node_core.hpp"

namespace bullring {

namespace {

LibraryOptions checked(const Options& options) {
    Problems problems;
    LibraryOptions checked = library_options(options, problems);
    if (!problems.empty()) throw ConfigError(std::move(problems));
    return checked;
}

void refuse_empty(const Node::Task& task) {
    if (!task) throw std::invalid_argument("bullring: the task is empty");
}

}  // namespace

Node::Node(const Options& options) : core_(std::make_unique<NodeCore>(checked(options))) {}
Node::Node(Node&&) noexcept = default;
Node& Node::operator=(Node&&) noexcept = default;
Node::~Node() = default;

void Node::start() { core_->start(); }
void Node::stop() { core_->stop(); }
void Node::run_while_leader(const Task& task) {
    refuse_empty(task);
    core_->run_while_leader(task);
}
void Node::start_while_leader(Task task, std::function<void(std::exception_ptr)> on_error) {
    refuse_empty(task);
    core_->start_while_leader(std::move(task), std::move(on_error));
}
std::optional<Leader> Node::leader() const { return core_->leader(); }
Subscription Node::subscribe(ChangeCallback callback) {
    return core_->subscribe(std::move(callback));
}
Resignation Node::resign(std::uint64_t to, std::chrono::nanoseconds timeout) {
    return core_->resign(to, timeout);
}
Status Node::status() const { return core_->status(); }
MemberList Node::members() const { return core_->members(); }
Administrator Node::administrator() const { return core_->administrator(); }

}  // namespace bullring
