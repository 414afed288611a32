# Owns: helpers that make builds quicker where they are installed. None of them is required.
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
    find_program(BULLRING_CCACHE ccache)
    mark_as_advanced(BULLRING_CCACHE)
    if(BULLRING_CCACHE)
        set(CMAKE_CXX_COMPILER_LAUNCHER "${BULLRING_CCACHE}")
    endif()
endif()

find_program(BULLRING_MOLD mold)
mark_as_advanced(BULLRING_MOLD)
