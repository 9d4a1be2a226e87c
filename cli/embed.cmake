# cmake -D OUTPUT=<file.cpp> -D RECIPES=<files, separated by |> -P embed.cmake
#
# Writes the recipes as string literals: the program finds them wherever it is.

string(REPLACE "|" ";" files "${RECIPES}")
set(text "#include \"cli/recipes.h\"\n\nnamespace thalweg::cli {\n\n")
string(APPEND text "std::vector<BuiltInRecipe> built_in_recipes() {\n  return {\n")
foreach(file IN LISTS files)
  cmake_path(GET file STEM name)
  file(READ ${file} content)
  string(APPEND text "      {\"${name}\", R\"EMBED(${content})EMBED\"},\n")
endforeach()
string(APPEND text "  };\n}\n\n}  // namespace thalweg::cli\n")
file(WRITE ${OUTPUT} "${text}")
