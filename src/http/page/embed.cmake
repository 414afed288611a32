# Owns: the source OUTPUT that defines what page.hpp declares, made of the files in DIRECTORY. Run
# as a script.
set(source "#include \"src/http/page.hpp\"\n\nnamespace bullring {\n\nnamespace {\n\n")
string(APPEND source "constexpr PageFile files[] = {\n")
foreach(file IN ITEMS "/|index.html|text/html" "/page.css|page.css|text/css"
                      "/words.js|words.js|text/javascript" "/page.js|page.js|text/javascript"
                      "/icon.svg|icon.svg|image/svg+xml")
    string(REPLACE "|" ";" parts "${file}")
    list(GET parts 0 path)
    list(GET parts 1 name)
    list(GET parts 2 type)
    file(READ "${DIRECTORY}/${name}" text)
    string(APPEND source "    {\"${path}\", \"${type}; charset=utf-8\", R\"page(${text})page\"},\n")
endforeach()
string(APPEND source "};\n\n}  // namespace\n\n")
string(APPEND source "std::span<const PageFile> page_files() { return files; }\n\n}\n")
file(WRITE "${OUTPUT}" "${source}")
