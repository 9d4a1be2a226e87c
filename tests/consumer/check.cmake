# Builds and runs the consumer project against an installed Thalweg.
# cmake -DCOMPILER=<c++> -DINSTALLED=<prefix> -DREADME=<file> -DWORK=<folder to use> -P check.cmake

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}: ${result}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})

# Each ```cpp block of the README that has a main function is a program.
file(READ ${README} rest)
set(count 0)
string(FIND "${rest}" "```cpp\n" begin)
while(begin GREATER -1)
  math(EXPR begin "${begin} + 7")
  string(SUBSTRING "${rest}" ${begin} -1 rest)
  string(FIND "${rest}" "```" end)
  string(SUBSTRING "${rest}" 0 ${end} program)
  if(program MATCHES "int main\\(")
    math(EXPR count "${count} + 1")
    file(WRITE ${WORK}/programs/readme_${count}.cpp "${program}")
  endif()
  string(SUBSTRING "${rest}" ${end} -1 rest)
  string(FIND "${rest}" "```cpp\n" begin)
endwhile()

run(${CMAKE_COMMAND} -G Ninja -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK}/build
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${INSTALLED} -DPROGRAMS=${WORK}/programs)
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/consumer)
message(STATUS "${output}")
# The installed program finds its libraries.
run(${CMAKE_COMMAND} -E env --unset=LD_LIBRARY_PATH ${INSTALLED}/bin/thalweg --version)

# Misuse is refused by the compiler, with the message that the first line of each file names.
file(GLOB sources ${CMAKE_CURRENT_LIST_DIR}/must_not_compile/*.cpp)
foreach(source IN LISTS sources)
  file(STRINGS ${source} expected LIMIT_COUNT 1)
  string(REPLACE "// error: " "" expected "${expected}")
  execute_process(COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C
    ${COMPILER} -std=c++20 -fsyntax-only -I ${INSTALLED}/include ${source}
    RESULT_VARIABLE result ERROR_VARIABLE output)
  string(FIND "${output}" "${expected}" found)
  if(result EQUAL 0 OR found EQUAL -1)
    message(FATAL_ERROR "${source}: expected the error \"${expected}\", got:\n${output}")
  endif()
endforeach()
