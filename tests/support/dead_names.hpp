// A resolver that does not answer, as one without a name server in reach.
#pragma once

#include <string>

namespace bullring::test {

/// While it lives nobody hears of a name that ends in `ending`; then all who wait are told that
/// there is no answer. The rest is the system's. One at a time.
class DeadNames {
public:
    explicit DeadNames(const std::string& ending);
    DeadNames(const DeadNames&) = delete;
    DeadNames& operator=(const DeadNames&) = delete;
    ~DeadNames();
};

}  // namespace bullring::test
