# The install tree: public headers, the libraries of the rooms, and a CMake package for them. Libraries
# from outside stay where they are; the package looks for them again.

include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/thalweg)

get_property(rooms GLOBAL PROPERTY THALWEG_ROOMS)
install(TARGETS ${rooms} thalweg EXPORT thalweg-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/thalweg DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT thalweg-targets NAMESPACE thalweg:: DESTINATION ${package_folder})

configure_package_config_file(cmake/thalweg-config.cmake.in thalweg-config.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(thalweg-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/thalweg-config.cmake
  ${PROJECT_BINARY_DIR}/thalweg-config-version.cmake
  cmake/FindLIBXSMM.cmake
  DESTINATION ${package_folder})
