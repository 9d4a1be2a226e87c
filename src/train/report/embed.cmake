# cmake -D OUTPUT=<file.cpp> -D FOLDER=<this folder> -P embed.cmake
#
# Writes the report's page, style and script as string literals: a program needs no file beside it.

set(text "#include \"train/report_page.h\"\n\nnamespace thalweg::train {\n")
foreach(pair Page=html Style=css Script=js)
  string(REPLACE "=" ";" pair ${pair})
  list(GET pair 0 name)
  list(GET pair 1 extension)
  file(READ ${FOLDER}/report.${extension} content)
  string(APPEND text "const std::string_view kReport${name} = R\"EMBED(${content})EMBED\";\n")
endforeach()
string(APPEND text "}  // namespace thalweg::train\n")
file(WRITE ${OUTPUT} "${text}")
