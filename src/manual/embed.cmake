# Owns: the source OUTPUT that defines what pages.hpp declares, made of the files PAGES. Run as a
# script.
set(source "#include \"src/manual/pages.hpp\"\n\nnamespace bullring {\n\nnamespace {\n\n")
string(APPEND source "constexpr ManualPage pages[] = {\n")
foreach(file IN LISTS PAGES)
    get_filename_component(page "${file}" NAME)
    string(REGEX MATCH "^(.*)\\.([1-9])\\.(md|txt)$" name "${page}")
    file(READ "${file}" text)
    string(APPEND source "    {\"${CMAKE_MATCH_1}\", '${CMAKE_MATCH_2}', R\"page(${text})page\"},\n")
endforeach()
string(APPEND source "};\n\n}  // namespace\n\n")
string(APPEND source "std::span<const ManualPage> manual_pages() { return pages; }\n\n}\n")
file(WRITE "${OUTPUT}" "${source}")
