# cmake -D OUTPUT=<file.cpp> -D ROOT=<the project's folder> -D FILES=<files below it, separated by |>
#   -P embed.cmake
#
# Writes sources as string literals: kernels are compiled where these files are not. What the sources
# include of the standard library is all in one of them, device/std.cuh.

string(REPLACE "|" ";" files "${FILES}")
set(text "#include \"kernels/cuda/sources.h\"\n\nnamespace thalweg::cuda {\n\n")
string(APPEND text "std::span<const DeviceSource> device_sources() {\n")
string(APPEND text "  static constexpr DeviceSource sources[] = {\n")
foreach(name bit cmath concepts cstdint limits type_traits)
  string(APPEND text "      {\"${name}\", \"#include \\\"kernels/cuda/device/std.cuh\\\"\\n\"},\n")
endforeach()
foreach(file IN LISTS files)
  file(READ ${ROOT}/${file} content)
  string(REGEX REPLACE "^(src|include)/" "" name ${file})
  string(APPEND text "      {\"${name}\", R\"EMBED(${content})EMBED\"},\n")
endforeach()
string(APPEND text "  };\n  return sources;\n}\n\n}  // namespace thalweg::cuda\n")
file(WRITE ${OUTPUT} "${text}")
