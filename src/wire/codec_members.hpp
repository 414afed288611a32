// That no member of a message is forgotten on the wire, and none out of its order: fields() of
// codec_fields.hpp is asked at compile time which members it visits. Included by the codec's files
// only.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "protocol/values/fields.hpp"
#include "protocol/values/ids.hpp"
#include "protocol/values/messages.hpp"

namespace bullring::codec {

/// The third kind of Coder, beside Writer and Reader: counts the members that it is shown, and
/// reads none of them.
class MemberCounter {
public:
    template <class T>
    constexpr void operator()(const T& /*number*/) {
        add(1);
    }
    constexpr void member(const protocol::NodeId& /*id*/) { add(1); }
    template <class E>
    constexpr void choice(const E& /*value*/, E /*last*/) {
        add(1);
    }
    template <class... B>
    constexpr void flags(const B&... /*flag*/) {
        add(sizeof...(B));
    }
    constexpr void text(const std::string& /*text*/, std::size_t /*bytes_max*/) { add(1); }
    template <class List, class Item>
    constexpr void list(const List& /*items*/, std::size_t /*count_max*/, Item&& /*item*/) {
        add(1);
    }
    template <class Optional, class Item>
    constexpr void optional(const Optional& /*part*/, Item&& /*item*/) {
        add(1);
    }
    template <class Fields>
    constexpr void since(std::uint16_t version, Fields&& fields) {
        if (version <= latest_ || within_) in_order_ = false;
        latest_ = version;
        within_ = true;
        fields();
        within_ = false;
    }
    template <class Fields>
    constexpr void behind(std::uint16_t version, Fields&& fields) {
        since(version, fields);
    }
    template <class Fields>
    constexpr void at_end(Fields&& fields) {
        since(static_cast<std::uint16_t>(latest_ + 1), fields);
    }
    constexpr void written_in(const std::uint16_t& /*version*/) {}
    template <class Condition>
    constexpr void check(Condition&& /*holds*/, const char* /*what*/) {}

    constexpr std::size_t count() const { return count_; }
    /// The fields of a later version come after all earlier ones.
    constexpr bool in_order() const { return in_order_; }

private:
    constexpr void add(std::size_t members) {
        count_ += members;
        if (latest_ != protocol::version_lowest && !within_) in_order_ = false;
    }

    std::size_t count_ = 0;
    std::uint16_t latest_ = protocol::version_lowest;  // that fields were shown of
    bool within_ = false;                              // now
    bool in_order_ = true;
};

/// A message that is never made, and defined nowhere: its members can be named and counted, not
/// read.
template <class M>
extern const M unmade;

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#endif
template <class M>
consteval MemberCounter coded_members() {
    MemberCounter counter;
    fields(counter, unmade<M>);
    return counter;
}
#ifdef __clang__
#pragma clang diagnostic pop
#endif

/// Codes a message, or a part of one: all of its members.
template <class Coder, class M>
constexpr void whole(Coder& c, M& m) {
    using Message = std::remove_const_t<M>;
    if constexpr (std::same_as<Coder, MemberCounter>) {
        c(m);  // a part counts itself
    } else {
        static_assert(
            coded_members<Message>().count() == protocol::fields::count_members<Message>(),
            "fields() has to visit each member of the struct once");
        static_assert(coded_members<Message>().in_order(),
                      "fields() has to visit what a later version has added last");
        fields(c, m);
    }
}

}  // namespace bullring::codec
