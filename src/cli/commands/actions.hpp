// Shared by `bullring key` and `bullring cert`: their first operand says what is to be
// done, and the others what it is done with.
#pragma once

#include "src/cli/options/subcommand.hpp"

namespace bullring {

/// The row of the first operand, with the right number of others behind it; what is wrong is
/// reported. nullptr when there is no such action.
const Action* checked_action(const Given& given);

/// A flag that means nothing to this action would be taken for one that has worked.
void refuse_flag(const char* flag, const char* action, const char* right, const Given& given);

}  // namespace bullring
