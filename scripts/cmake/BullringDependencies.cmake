# Owns: the search for the libraries that the project builds on, all of them from the system.
# scripts/setup installs their packages.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(cereal REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tl-expected REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)

find_package(PkgConfig REQUIRED)
pkg_check_modules(libmnl REQUIRED IMPORTED_TARGET libmnl)

# Standalone Asio has no CMake package of its own.
if(NOT TARGET asio::asio)
    find_path(ASIO_INCLUDE_DIR asio.hpp)
    mark_as_advanced(ASIO_INCLUDE_DIR)
    if(NOT ASIO_INCLUDE_DIR)
        message(FATAL_ERROR "asio.hpp was not found; on Debian install libasio-dev, or run scripts/setup")
    endif()
    add_library(asio::asio INTERFACE IMPORTED)
    target_include_directories(asio::asio SYSTEM INTERFACE "${ASIO_INCLUDE_DIR}")
    target_compile_definitions(asio::asio INTERFACE ASIO_STANDALONE ASIO_SEPARATE_COMPILATION)
    target_link_libraries(asio::asio INTERFACE Threads::Threads)
    if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
        # Asio 1.22 looks for <experimental/coroutine> with Clang; the standard header works.
        target_compile_definitions(asio::asio INTERFACE ASIO_HAS_CO_AWAIT=1
                                                        ASIO_HAS_STD_COROUTINE=1)
    endif()
endif()

# bullring_find_library(TARGET HEADER LIBRARY PACKAGE): one that has no CMake package that fits.
function(bullring_find_library target header library package)
    if(TARGET ${target})
        return()
    endif()
    string(MAKE_C_IDENTIFIER "BULLRING_${library}" variable)
    find_path(${variable}_INCLUDE_DIR "${header}")
    find_library(${variable}_LIBRARY "${library}")
    mark_as_advanced(${variable}_INCLUDE_DIR ${variable}_LIBRARY)
    if(NOT ${variable}_INCLUDE_DIR OR NOT ${variable}_LIBRARY)
        message(FATAL_ERROR "${header} or its library was not found; on Debian install ${package}, "
                            "or run scripts/setup")
    endif()
    add_library(${target} UNKNOWN IMPORTED)
    set_target_properties(
        ${target} PROPERTIES IMPORTED_LOCATION "${${variable}_LIBRARY}"
                             INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${${variable}_INCLUDE_DIR}"
                             INTERFACE_INCLUDE_DIRECTORIES "${${variable}_INCLUDE_DIR}")
endfunction()

bullring_find_library(bullring::http_parser http_parser.h http_parser "libhttp-parser-dev")
# That of prometheus-cpp asks for libraries that its core does without.
bullring_find_library(bullring::prometheus prometheus/text_serializer.h prometheus-cpp-core
                      "prometheus-cpp-dev")

if(BULLRING_TESTS)
    find_package(doctest REQUIRED)
    find_package(rapidcheck REQUIRED)
endif()
