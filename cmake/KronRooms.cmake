# A room is one directory under src/kron: one static library kron_<room>, and one test program kron_<room>_test.
# docs/architecture.md says what may live in each room and which rooms it may use.

# kron_room(NAME SOURCES … [USES room…] [LINKS library…])
#   USES  rooms below this one, visible to those who use this room
#   LINKS libraries that stay inside this room's .cc files
function(kron_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;USES;LINKS" ${ARGN})
  add_library(kron_${name} STATIC ${ROOM_SOURCES})
  add_library(kron::${name} ALIAS kron_${name})
  set_target_properties(kron_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(kron_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
                                                 $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  list(TRANSFORM ROOM_USES PREPEND kron_)
  target_link_libraries(kron_${name} PUBLIC ${ROOM_USES} PRIVATE ${ROOM_LINKS} $<BUILD_INTERFACE:kron_warnings>)
endfunction()

# kron_room_tests(NAME SOURCES … [LINKS library…] [SHARDS n]): the x_test.cc files that stand beside the sources.
#   SHARDS  into how many parts of like length a long program is divided when whole programs are run
# Tests read golden data below tests/data (testing::data_path), the pinned zone database among it.
function(kron_room_tests name)
  if(NOT KRON_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(TESTS "" "SHARDS" "SOURCES;LINKS" ${ARGN})
  find_package(GTest REQUIRED)
  find_package(rapidcheck REQUIRED)
  include(GoogleTest)
  add_executable(kron_${name}_test ${TESTS_SOURCES})
  target_link_libraries(kron_${name}_test PRIVATE kron_${name} kron_testing_property ${TESTS_LINKS} kron_warnings
                                                  GTest::gtest_main GTest::gmock rapidcheck)
  target_compile_options(kron_${name}_test PRIVATE ${KRON_TEST_OPTIONS})
  if(NOT KRON_WHOLE_TEST_PROGRAMS)
    # Listed when ctest runs, not when the program is linked; generous, because the machine may be busy building.
    gtest_discover_tests(kron_${name}_test TEST_PREFIX ${name}: DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60)
  elseif(NOT TESTS_SHARDS)
    # Some hundred tests are one to ctest, and the machine may be busy.
    add_test(NAME ${name}:all COMMAND kron_${name}_test)
    set_tests_properties(${name}:all PROPERTIES TIMEOUT ${KRON_LONG_TEST_TIMEOUT})
  else()
    math(EXPR last "${TESTS_SHARDS} - 1")
    foreach(shard RANGE ${last})
      add_test(NAME ${name}:part_${shard} COMMAND kron_${name}_test)
      # They are the long ones: first, so that none is alone at the end.
      set_tests_properties(${name}:part_${shard} PROPERTIES COST 100 TIMEOUT ${KRON_LONG_TEST_TIMEOUT} ENVIRONMENT
        "GTEST_TOTAL_SHARDS=${TESTS_SHARDS};GTEST_SHARD_INDEX=${shard}")
    endforeach()
  endif()
endfunction()

# kron_script_texts(VARIABLE name…): Lua scripts of the directory scripts/ as the rows {"name", R"lua(text)lua"}, of a C++
# table. A line `--include other.lua` stands for the text of that file, as seen from the script.
function(kron_script_texts variable)
  set(rows "")
  foreach(name IN LISTS ARGN)
    set(file ${CMAKE_CURRENT_SOURCE_DIR}/scripts/${name}.lua)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} text)
    string(REGEX MATCHALL "--include [a-z_./]+" includes "${text}")
    foreach(include IN LISTS includes)
      string(REPLACE "--include " "" part "${include}")
      get_filename_component(part ${CMAKE_CURRENT_SOURCE_DIR}/scripts/${part} ABSOLUTE)
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${part})
      file(READ ${part} included)
      string(REPLACE "${include}" "${included}" text "${text}")
    endforeach()
    string(APPEND rows "    {\"${name}\", R\"lua(${text})lua\"},\n")
  endforeach()
  set(${variable} "${rows}" PARENT_SCOPE)
endfunction()
