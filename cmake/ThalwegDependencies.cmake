# Finds what Thalweg stands on. Packages from PyPI live in the virtual environment .deps/, which is one
# more prefix; all others are the distribution's. What is optional may be absent: the next kernel runs.

list(APPEND CMAKE_PREFIX_PATH ${PROJECT_SOURCE_DIR}/.deps)

find_package(fmt 9 REQUIRED)
find_package(hwy 1.0 CONFIG REQUIRED)
find_package(CLI11 2 CONFIG REQUIRED)
find_package(tomlplusplus 3.3 CONFIG REQUIRED)
find_package(nlohmann_json 3.11 CONFIG REQUIRED)
find_package(FastFloat CONFIG REQUIRED)
find_package(ZLIB REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(Threads REQUIRED)

define_property(GLOBAL PROPERTY THALWEG_DEPENDENCY_TABLE BRIEF_DOCS "lines of the configure summary")

# thalweg_note(<name> <found> <where> <what its absence costs>): one line of the summary.
function(thalweg_note name found where cost)
  set(column "${name}                    ")
  string(SUBSTRING "${column}" 0 12 column)
  if(found)
    set_property(GLOBAL APPEND PROPERTY THALWEG_DEPENDENCY_TABLE "${column} yes  ${where}")
  else()
    set_property(GLOBAL APPEND PROPERTY THALWEG_DEPENDENCY_TABLE "${column} no   without it: ${cost}")
  endif()
endfunction()

function(thalweg_print_dependencies)
  get_property(lines GLOBAL PROPERTY THALWEG_DEPENDENCY_TABLE)
  message(STATUS "Optional dependencies")
  foreach(line IN LISTS lines)
    message(STATUS "  ${line}")
  endforeach()
endfunction()

find_package(LIBXSMM 1.17)
set(THALWEG_LIBXSMM ${LIBXSMM_FOUND})
thalweg_note(LIBXSMM "${THALWEG_LIBXSMM}" "${LIBXSMM_LIBRARY} (${LIBXSMM_VERSION})"
  "small products and convolutions run on oneDNN or our own kernels, 2-80 times slower")

# Only the build that threads with libgomp: a second OpenMP runtime in one process would fight ours.
find_package(dnnl 3 CONFIG QUIET)
set(THALWEG_ONEDNN FALSE)
set(onednn_where "")
if(dnnl_FOUND)
  get_target_property(onednn_library DNNL::dnnl LOCATION)
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${onednn_library} OUTPUT_VARIABLE onednn_needs)
  if(onednn_needs MATCHES "libgomp")
    set(THALWEG_ONEDNN TRUE)
    set(onednn_where "${onednn_library} (${dnnl_VERSION})")
    # CMake leaves folders inside the source tree, as .deps/lib is, out of an installed program's path.
    cmake_path(GET onednn_library PARENT_PATH onednn_folder)
    if(NOT onednn_folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
      list(APPEND CMAKE_INSTALL_RPATH ${onednn_folder})
    endif()
  else()
    message(WARNING "oneDNN in ${onednn_library} is not threaded by libgomp, and is not used")
  endif()
endif()
thalweg_note(oneDNN "${THALWEG_ONEDNN}" "${onednn_where}"
  "large products, bf16 and convolutions run on our own kernels, slower; get it by scripts/setup")

# Formats of data.
find_package(JPEG QUIET)
set(THALWEG_JPEG ${JPEG_FOUND})
thalweg_note(libjpeg "${THALWEG_JPEG}" "${JPEG_LIBRARIES} (${JPEG_VERSION})"
  "JPEG images cannot be read; install libjpeg62-turbo-dev")
find_package(PNG 1.6 QUIET)
set(THALWEG_PNG ${PNG_FOUND})
thalweg_note(libpng "${THALWEG_PNG}" "${PNG_LIBRARY} (${PNG_VERSION_STRING})"
  "PNG images cannot be read; install libpng-dev")
find_package(zstd CONFIG QUIET)
set(THALWEG_ZSTD ${zstd_FOUND})
thalweg_note(zstd "${THALWEG_ZSTD}" "${zstd_DIR} (${zstd_VERSION})"
  "zstd files cannot be read; install libzstd-dev")

include(ThalwegCuda)

find_package(GTest 1.12 QUIET)
thalweg_note(GoogleTest "${GTest_FOUND}" "${GTest_DIR} (${GTest_VERSION})" "no tests")
