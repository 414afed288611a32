#include "protocol/member/setup.hpp"

#include "protocol/values/assert.hpp"

namespace bullring::protocol {

Setup::Setup(const Config& config, const Start& start) {
    BULLRING_ASSERT(config.members.index(config.self).has_value());
    BULLRING_ASSERT(config.members.size() <= members_max);
    const Index me = *config.members.index(config.self);
    MemberSet others = config.members.all();
    others.erase(me);
    shared_ = std::make_shared<const Shared>(
        Shared{config, me, others, start.incarnation, start.commitment, start.now});
}

}  // namespace bullring::protocol
