# Owns: the one target that carries the language level, the warnings, the hardening and the
# sanitizers. Every target of the project links it privately; nothing sets CMAKE_CXX_FLAGS.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)

add_library(bullring_flags INTERFACE)
add_library(bullring::flags ALIAS bullring_flags)

# __FILE__ is the same wherever the checkout stands: an object that ccache knows from another checkout
# is good in this one. A debugger's paths stay whole.
target_compile_options(bullring_flags INTERFACE "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=")

target_compile_features(bullring_flags INTERFACE cxx_std_20)
target_compile_options(
    bullring_flags
    INTERFACE -Wall
              -Wextra
              -Wpedantic
              -Wshadow
              -Wconversion
              -Wsign-conversion
              -Wold-style-cast
              -Wnon-virtual-dtor
              -Woverloaded-virtual
              -Wcast-align
              -Wdouble-promotion
              -Wformat=2
              -Wextra-semi
              -Wimplicit-fallthrough
              $<$<BOOL:${BULLRING_WERROR}>:-Werror>)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ sees mismatched deletes of Asio's coroutine frames where there are none.
    target_compile_options(bullring_flags INTERFACE -Wduplicated-cond -Wno-mismatched-new-delete)
    if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
        # g++ 12 warns about std::string's own copies (GCC bug 105651).
        target_compile_options(bullring_flags INTERFACE -Wno-restrict)
    endif()
endif()

if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 17)
    # std::stable_sort of libstdc++ 12 uses what C++17 has deprecated.
    target_compile_options(bullring_flags INTERFACE -Wno-deprecated-declarations)
endif()

if(CMAKE_UNITY_BUILD)
    # Several sources are compiled as one, and what is local to one shadows what is local to another.
    # Only a build that compiles each alone can look for that: the preset dev, and so does
    # scripts/check alone.
    target_compile_options(bullring_flags INTERFACE -Wno-shadow)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        target_compile_options(bullring_flags INTERFACE -Wno-subobject-linkage)
    endif()
endif()

if(BULLRING_MOLD)
    target_link_options(bullring_flags INTERFACE -fuse-ld=mold)
endif()

# The standard library's own assertions stop at a broken invariant instead of going on with it.
target_compile_definitions(bullring_flags INTERFACE _GLIBCXX_ASSERTIONS)
target_compile_options(bullring_flags INTERFACE -fstack-protector-strong)
target_link_options(bullring_flags INTERFACE -Wl,-z,relro,-z,now)

# The optimiser's last level takes a tenth of the time to compile, for nothing that was measured; and
# what only waits, for people or for other nodes, does with its first one, which takes a quarter less.
set(waits "$<IN_LIST:$<TARGET_PROPERTY:NAME>,bullring_cli;bullring_observe;bullring_verify>")
target_compile_options(bullring_flags INTERFACE "$<$<CONFIG:Release>:$<IF:${waits},-O1,-O2>>")

if(BULLRING_SANITIZE STREQUAL "")
    # Fortification needs an optimised build, and distributions define the macro themselves.
    target_compile_options(
        bullring_flags INTERFACE $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE>
                                 $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
else()
    target_compile_options(
        bullring_flags INTERFACE -fsanitize=${BULLRING_SANITIZE} -fno-sanitize-recover=all
                                 -fno-omit-frame-pointer $<IF:$<BOOL:${BULLRING_FUZZ}>,-O2,-O1> -g1)
    target_link_options(bullring_flags INTERFACE -fsanitize=${BULLRING_SANITIZE})
    if(BULLRING_SANITIZE MATCHES "undefined" AND NOT BULLRING_FUZZ)
        # Both sanitizers and an optimiser need twice the time for what is much code and mostly
        # waits. The tests of the protocol compute.
        set(is_protocol "$<STREQUAL:$<TARGET_PROPERTY:NAME>,bullring_protocol>")
        target_compile_options(bullring_flags INTERFACE "$<$<NOT:${is_protocol}>:-O0>")
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # Instrumented code makes g++ see uninitialised values where there are none, and its thread
        # sanitizer warns about each fence of Asio.
        target_compile_options(bullring_flags INTERFACE -Wno-maybe-uninitialized)
        if(BULLRING_SANITIZE MATCHES "thread")
            target_compile_options(bullring_flags INTERFACE -Wno-tsan)
        endif()
    endif()
endif()
