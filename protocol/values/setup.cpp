#include "protocol/values/setup.hpp"

#include "protocol/values/assert.hpp"
#include "protocol/values/member_change.hpp"

namespace bullring::protocol {

Setup::Setup(const Config& config, const Start& start)
    : shared_(std::make_shared<const Shared>(
          Shared{config, start.incarnation, start.commitment, start.now})) {
    const bool has_list = start.file && !start.file->members.empty();
    set_members(with_self(has_list ? start.file->members : config.members, config.self));
}

void Setup::set_members(const Membership& members) {
    BULLRING_ASSERT(members.find(self()) != nullptr);
    members_ = members;
    me_ = *members.index(self());
    others_ = members.all();
    others_.erase(me_);
}

}  // namespace bullring::protocol
