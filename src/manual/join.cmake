# Owns: one page of the manual: HEAD, followed by the documents BODIES, if there are any. The first of
# them goes on without its title; each further one is a section of the page. Run as a script, with
# the result in OUTPUT.
file(READ "${HEAD}" text)
set(first TRUE)
foreach(file IN LISTS BODIES)
    file(READ "${file}" body)
    if(first)
        string(REGEX REPLACE "^# [^\n]*\n" "" body "${body}")
        set(first FALSE)
    else()
        string(REGEX REPLACE "\n#" "\n##" body "\n${body}")
    endif()
    string(APPEND text "${body}")
endforeach()
file(WRITE "${OUTPUT}" "${text}")
