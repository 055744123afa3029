# Language, warnings, sanitizers and the tools that make the build fast.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

set(KRON_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize= (address,undefined or thread)")
option(KRON_WERROR "Warnings are errors" OFF)
option(KRON_WHOLE_TEST_PROGRAMS "ctest runs whole test programs instead of a process for each test" OFF)
set(KRON_TEST_OPTIONS "" CACHE STRING "Compile options for the sources of tests and benchmarks, after all others")
set(KRON_LONG_TEST_TIMEOUT 900 CACHE STRING "Seconds that a test may take which is long by its nature")

# What scripts/deps could not install without an upgrade of something else.
if(EXISTS ${PROJECT_SOURCE_DIR}/build/packages/usr)
  list(PREPEND CMAKE_PREFIX_PATH ${PROJECT_SOURCE_DIR}/build/packages/usr)
endif()

find_program(KRON_CCACHE ccache)
if(KRON_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${KRON_CCACHE})
endif()
find_program(KRON_MOLD mold)
if(KRON_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# A decision must be the same bits on every machine, so no fused multiply-add anywhere.
add_compile_options(-ffp-contract=off)

# With CMAKE_UNITY_BUILD a room is one translation unit. A local variable may then have the name of something in the
# unnamed namespace of another file, which is no mistake; and g++ 12 takes parts of a std::variant that it has inlined
# for uninitialised. The builds of single files keep both warnings.
set(KRON_UNIT_WARNINGS -Wshadow)
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(KRON_UNIT_WARNINGS -Wshadow=local -Wno-maybe-uninitialized)
endif()
add_library(kron_warnings INTERFACE)
target_compile_options(kron_warnings INTERFACE -Wall -Wextra -Wpedantic ${KRON_UNIT_WARNINGS} -Wconversion
                                               $<$<BOOL:${KRON_WERROR}>:-Werror>)

if(KRON_SANITIZE)
  add_compile_options(-fsanitize=${KRON_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # It opens descriptors to look at an object, and calls the object invalid where there are none left, which is what
  # krond is tested with.
  add_compile_options(-fno-sanitize=vptr)
  add_link_options(-fsanitize=${KRON_SANITIZE})
endif()

# Every room reports its branches to the fuzzer, not only the fuzzer's own file.
if(KRON_BUILD_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
