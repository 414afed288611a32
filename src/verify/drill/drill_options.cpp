#include "src/verify/drill/drill_options.hpp"

#include <algorithm>
#include <string_view>

#include "protocol/values/names.hpp"
#include "src/base/text/text.hpp"

namespace bullring {

const char* name(DrillRequest what) {
    switch (what) {
        case DrillRequest::permission: return "permission";
        case DrillRequest::crash: return "crash";
        case DrillRequest::hang: return "hang";
        case DrillRequest::resign: return "resign";
        case DrillRequest::cut: return "cut";
    }
    return protocol::no_name;
}

tl::expected<std::vector<DrillRequest>, std::string> parse_faults(const std::string& text) {
    std::vector<DrillRequest> faults;
    std::string_view rest = trimmed(text);
    // As in the list of members, a comma may end it.
    if (rest.size() > 1 && rest.ends_with(',')) rest.remove_suffix(1);
    while (true) {
        const std::size_t comma = rest.find(',');
        const std::string_view word = trimmed(rest.substr(0, comma));
        const auto* const found =
            std::find_if(all_faults.begin(), all_faults.end(),
                         [word](DrillRequest fault) { return word == name(fault); });
        if (found == all_faults.end())
            return tl::unexpected(in_quotes(word) +
                                  " is not one of crash, hang, resign, cut; expected a list of "
                                  "them, such as crash,cut");
        if (std::find(faults.begin(), faults.end(), *found) != faults.end())
            return tl::unexpected(in_quotes(word) + " is there twice; expected each fault once");
        faults.push_back(*found);
        if (comma == std::string_view::npos) return faults;
        rest.remove_prefix(comma + 1);
    }
}

}  // namespace bullring
