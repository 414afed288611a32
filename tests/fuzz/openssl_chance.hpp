// OpenSSL's random numbers, made here: the same input does the same.
#pragma once

#include <openssl/rand.h>

#include "protocol/values/rng.hpp"
#include "tests/fuzz/input.hpp"

namespace bullring::fuzz {

inline protocol::Rng& random_numbers() {
    static protocol::Rng rng(1);
    return rng;
}

/// To be called before OpenSSL is.
inline void without_chance() {
    constexpr auto make = [](unsigned char* into, int count) {
        for (int i = 0; i < count; ++i)
            into[i] = static_cast<unsigned char>(random_numbers().below(256));
        return 1;
    };
    static const RAND_METHOD method{nullptr, make, nullptr, nullptr, make, [] { return 1; }};
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // what replaces it is a provider
    expect(RAND_set_rand_method(&method) == 1, "OpenSSL has random numbers of its own");
#pragma GCC diagnostic pop
}

}  // namespace bullring::fuzz
