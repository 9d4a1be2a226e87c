# What holds for every target: language, warnings, visibility, where things are put.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

# Baseline instructions and -O2: Highway picks wider SIMD when the program runs.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

# Structs of a few hundred bytes, such as a tensor's meta, are copied and cleared by plain moves: GCC's choice,
# `rep stos` and `rep movs`, takes 30 cycles to start.
# clang-tidy, which reads the same flags, does not know them.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64"
   AND NOT CMAKE_CXX_CLANG_TIDY)
  foreach(function memcpy memset)
    add_compile_options(
      $<$<COMPILE_LANGUAGE:CXX>:-m${function}-strategy=vector_loop:512:noalign,libcall:-1:noalign>)
  endforeach()
endif()

# Sanitized code takes several times as long to compile: what is not measured or shipped is made with less.
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  set(THALWEG_SANITIZED TRUE)
endif()

# Installed programs find what the linker found, e.g. oneDNN in .deps/.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

add_library(thalweg_warnings INTERFACE)
target_compile_options(thalweg_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra>
  $<$<AND:$<BOOL:${THALWEG_WERROR}>,$<COMPILE_LANGUAGE:CXX>>:-Werror>)
