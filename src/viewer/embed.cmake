# Owns: the source OUTPUT, with the viewer in DIRECTORY as one page, in two halves: what is looked at
# stands between them. Run as a script.
include("${DIRECTORY}/modules.cmake")
file(READ "${DIRECTORY}/viewer.html" page)
set(style "")
foreach(name IN LISTS viewer_styles)
    file(READ "${DIRECTORY}/${name}.css" text)
    string(APPEND style "${text}")
    string(REPLACE "<link rel=\"stylesheet\" href=\"${name}.css\">\n" "" page "${page}")
endforeach()
# In one scope they need no imports: no two of them have a name in common.
set(script "")
foreach(name IN LISTS viewer_modules)
    file(READ "${DIRECTORY}/${name}.js" text)
    string(REGEX REPLACE "\nimport [^\n]*" "" text "${text}")
    string(REGEX REPLACE "\nexport " "\n" text "${text}")
    string(APPEND script "${text}")
endforeach()
string(REPLACE "<script type=\"module\" src=\"viewer.js\"></script>"
               "<style>\n${style}</style>\n<script type=\"module\">\n${script}</script>" page "${page}")
string(REPLACE "</body>" ")page\", R\"page(</body>" page "${page}")
file(
    WRITE "${OUTPUT}"
    "#include \"sim/diagram/viewer_page.hpp\"\n\nnamespace bullring::sim::diagram {\n\n"
    "ViewerHalves viewer_halves() { return {R\"page(${page})page\"}; }\n\n}\n")
