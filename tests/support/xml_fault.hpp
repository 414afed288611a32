// Enough of an XML parser for the pictures that are written.
#pragma once

#include <cstddef>
#include <regex>
#include <string>
#include <vector>

namespace bullring::test {

/// The fault of this text as XML; empty when there is none. Enough of XML for the texts here.
inline std::string xml_fault(const std::string& text) {
    static const std::regex tag(R"(^<(/?)([a-zA-Z]+)((?: [a-zA-Z0-9:-]+="[^"<]*")*) ?(/?)>)");
    static const std::regex entity("^&(amp|lt|gt|quot|#10);");
    std::vector<std::string> open;
    std::size_t at = text.rfind("<?xml", 0) == 0 ? text.find("?>") + 2 : 0;
    for (; at < text.size(); ++at) {
        const std::string near =
            text.substr(at, text.find(text[at] == '&' ? ';' : '>', at) + 1 - at);
        std::smatch found;
        if (text[at] == '&' && !std::regex_search(near, found, entity)) return "& in " + near;
        if (text[at] != '<') continue;
        if (!std::regex_search(near, found, tag)) return "no tag: " + near;
        if (found[1].length() > 0) {
            if (open.empty() || open.back() != found[2]) return "not open: " + near;
            open.pop_back();
        } else if (found[4].length() == 0) {
            open.push_back(found[2]);
        }
        at += static_cast<std::size_t>(found[0].length()) - 1;
    }
    return open.empty() ? "" : "not closed: " + open.back();
}

}  // namespace bullring::test
