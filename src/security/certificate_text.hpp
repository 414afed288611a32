// Parts of certificates as people see them: on one line each, and without what a terminal would
// obey.
#pragma once

#include <string>

#include "src/security/openssl.hpp"

namespace bullring {

std::string name_text(const X509_NAME& name);
std::string time_text(const ASN1_TIME& time);         // RFC 3339
std::string serial_text(const ASN1_INTEGER& serial);  // hex

}  // namespace bullring
