# Writes the commit of SOURCE to OUTPUT, which changes with it alone, so that nothing else is built anew.
# The sources are a checkout, or were packed by git or scripts/package, which leave it in `archived`.
execute_process(
    COMMAND git -C "${SOURCE}" describe --always --dirty --abbrev=12 --exclude=*
    OUTPUT_VARIABLE commit
    OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET
    RESULT_VARIABLE failed)
# Not of a checkout that these sources were unpacked in.
execute_process(
    COMMAND git -C "${SOURCE}" ls-files --error-unmatch src/base/commit/archived
    OUTPUT_QUIET ERROR_QUIET
    RESULT_VARIABLE foreign)
if(failed OR foreign)
    file(READ "${SOURCE}/src/base/commit/archived" commit)
    string(REGEX MATCH "^[0-9a-f]+(-dirty)?" commit "${commit}")
    string(REGEX REPLACE "^(............)[0-9a-f]*" "\\1" commit "${commit}")
endif()
set(text "#include \"src/base/commit/commit.hpp\"\n\nstd::string_view bullring::built_from() { return \"${commit}\"; }\n")
set(before "")
if(EXISTS "${OUTPUT}")
    file(READ "${OUTPUT}" before)
endif()
if(NOT text STREQUAL before)
    file(WRITE "${OUTPUT}" "${text}")
endif()
