#include "src/security/certificate_text.hpp"

#include <ctime>
#include <memory>
#include <string_view>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "src/base/text/text.hpp"

namespace bullring {

namespace {

using OwnedNumber = std::unique_ptr<BIGNUM, FreedBy<&BN_free>>;

}  // namespace

std::string name_text(const X509_NAME& name) {
    const OwnedBio memory(BIO_new(BIO_s_mem()));
    X509_NAME_print_ex(memory.get(), &name, 0, XN_FLAG_ONELINE & ~XN_FLAG_SPC_EQ);
    char* data = nullptr;
    const long size = BIO_get_mem_data(memory.get(), &data);
    return size > 0 ? one_line({data, static_cast<std::size_t>(size)}) : "";
}

std::string time_text(const ASN1_TIME& time) {
    std::tm parts{};
    if (ASN1_TIME_to_tm(&time, &parts) != 1) return "an unreadable time";
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", parts);
}

std::string serial_text(const ASN1_INTEGER& serial) {
    const OwnedNumber number(ASN1_INTEGER_to_BN(&serial, nullptr));
    char* const hex = number ? BN_bn2hex(number.get()) : nullptr;
    std::string text = hex == nullptr ? "" : hex;
    OPENSSL_free(hex);
    return text;
}

}  // namespace bullring
