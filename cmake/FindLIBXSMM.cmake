# Finds LIBXSMM, which Debian installs without a CMake package.
# Defines the target LIBXSMM::libxsmm, LIBXSMM_LIBRARY and LIBXSMM_VERSION.

find_path(LIBXSMM_INCLUDE_DIR libxsmm.h)
find_library(LIBXSMM_LIBRARY xsmm)
# Stands in for the BLAS that LIBXSMM falls back to where it compiles no kernel.
find_library(LIBXSMM_NOBLAS_LIBRARY xsmmnoblas)
mark_as_advanced(LIBXSMM_INCLUDE_DIR LIBXSMM_LIBRARY LIBXSMM_NOBLAS_LIBRARY)

if(LIBXSMM_INCLUDE_DIR)
  file(STRINGS ${LIBXSMM_INCLUDE_DIR}/libxsmm_version.h LIBXSMM_VERSION
    REGEX "define LIBXSMM_CONFIG_VERSION \"")
  string(REGEX REPLACE ".*\"([0-9.]+).*" "\\1" LIBXSMM_VERSION "${LIBXSMM_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LIBXSMM
  REQUIRED_VARS LIBXSMM_LIBRARY LIBXSMM_NOBLAS_LIBRARY LIBXSMM_INCLUDE_DIR
  VERSION_VAR LIBXSMM_VERSION)

if(LIBXSMM_FOUND AND NOT TARGET LIBXSMM::libxsmm)
  add_library(LIBXSMM::libxsmm UNKNOWN IMPORTED)
  set_target_properties(LIBXSMM::libxsmm PROPERTIES
    IMPORTED_LOCATION ${LIBXSMM_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${LIBXSMM_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES "${LIBXSMM_NOBLAS_LIBRARY};pthread;rt;dl;m")
endif()
