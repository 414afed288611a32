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

# Standalone Asio has no CMake package of its own.
if(NOT TARGET asio::asio)
    find_path(ASIO_INCLUDE_DIR asio.hpp)
    mark_as_advanced(ASIO_INCLUDE_DIR)
    if(NOT ASIO_INCLUDE_DIR)
        message(FATAL_ERROR "asio.hpp was not found; on Debian install libasio-dev, or run scripts/setup")
    endif()
    add_library(asio::asio INTERFACE IMPORTED)
    target_include_directories(asio::asio SYSTEM INTERFACE "${ASIO_INCLUDE_DIR}")
    target_compile_definitions(asio::asio INTERFACE ASIO_STANDALONE)
    target_link_libraries(asio::asio INTERFACE Threads::Threads)
    if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
        # Asio 1.22 looks for <experimental/coroutine> with Clang; the standard header works.
        target_compile_definitions(asio::asio INTERFACE ASIO_HAS_CO_AWAIT=1
                                                        ASIO_HAS_STD_COROUTINE=1)
    endif()
endif()

if(BULLRING_TESTS)
    find_package(doctest REQUIRED)
    find_package(rapidcheck REQUIRED)
endif()
