# thalweg_tests(<room> SOURCES <files...> [LINK <libraries...>] [LABELS <labels...>])
#
# Makes one GoogleTest program, <room>_test, of the tests of a room, and gives each of its tests to ctest
# with the labels (default: fast). Tests may include the room's internal headers as "room/file.h".
# A room may call this again with NAME <name> for tests that need other labels: slow, cuda, python.
function(thalweg_tests room)
  cmake_parse_arguments(TESTS "" "NAME" "SOURCES;LINK;LABELS" ${ARGN})
  if(NOT TESTS_NAME)
    set(TESTS_NAME ${room})
  endif()
  if(NOT TESTS_LABELS)
    set(TESTS_LABELS fast)
  endif()
  set(target ${TESTS_NAME}_test)
  add_executable(${target} ${TESTS_SOURCES})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${target} PRIVATE
    THALWEG_TEST_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE
    thalweg::${room} ${TESTS_LINK} thalweg_warnings fmt::fmt GTest::gmock GTest::gtest_main)
  gtest_discover_tests(${target}
    TEST_PREFIX ${TESTS_NAME}.
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS "${TESTS_LABELS}" TIMEOUT 600
      ENVIRONMENT "THALWEG_CONFORMANCE_DATA=${THALWEG_CONFORMANCE_DATA}")
endfunction()
