# thalweg_room(<name> SOURCES <files...> [DEPS <rooms...>] [LINK <libraries...>])
#
# Makes the static library thalweg_<name>, alias thalweg::<name>, of one room of src/. DEPS are the
# rooms below whose headers it includes: this list and the includes themselves are held to one table by
# tests/house. LINK are libraries from outside, which no public header mentions.
function(thalweg_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;DEPS;LINK" ${ARGN})
  set(target thalweg_${name})
  add_library(${target} STATIC ${ROOM_SOURCES})
  add_library(thalweg::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(${target} PRIVATE
    THALWEG_WITH_LIBXSMM=$<BOOL:${THALWEG_LIBXSMM}>
    THALWEG_WITH_ONEDNN=$<BOOL:${THALWEG_ONEDNN}>
    THALWEG_WITH_CUDA=$<BOOL:${THALWEG_WITH_CUDA}>)
  foreach(dep IN LISTS ROOM_DEPS)
    target_link_libraries(${target} PUBLIC thalweg_${dep})
  endforeach()
  target_link_libraries(${target} PRIVATE fmt::fmt ${ROOM_LINK} $<BUILD_INTERFACE:thalweg_warnings>)
  set_property(GLOBAL APPEND PROPERTY THALWEG_ROOMS ${target})
endfunction()
