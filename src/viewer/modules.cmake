# Owns: the list of the viewer's modules, each behind those that it needs.
set(viewer_styles draw viewer)
set(viewer_modules trace scale messages model episodes page_data svg_parts legend layout draw viewer)
