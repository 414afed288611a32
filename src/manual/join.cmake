# Owns: one page of the manual: HEAD, followed by the document BODY, if one is given, without its
# title. Run as a script, with the result in OUTPUT.
file(READ "${HEAD}" text)
if(BODY)
    file(READ "${BODY}" body)
    string(REGEX REPLACE "^# [^\n]*\n" "" body "${body}")
    string(APPEND text "${body}")
endif()
file(WRITE "${OUTPUT}" "${text}")
