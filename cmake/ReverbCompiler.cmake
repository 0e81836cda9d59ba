# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
#
# Language level, flags and sanitizers for our own code.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(THREADS_PREFER_PTHREAD_FLAG ON)

# Line tables, no variables: backtraces and profiles at a fraction of the size.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g")
# Nothing but compile errors matters here (make check).
set(CMAKE_CXX_FLAGS_CHECK "-O0 -g0")

find_program(REVERB_CCACHE ccache)
if(REVERB_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # NOHASHDIR: build folders of one checkout share objects.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND};-E;env;CCACHE_NOHASHDIR=1;${REVERB_CCACHE}")
endif()

add_library(reverb_flags INTERFACE)
target_include_directories(reverb_flags INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_options(reverb_flags INTERFACE
  -Wall -Wextra -Werror
  -ffunction-sections -fdata-sections
  # No path of the machine that built it in a wheel.
  "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # A unique symbol is shared by all modules of a process, whatever their
  # visibility: another library's copy could stand in for ours.
  target_compile_options(reverb_flags INTERFACE -fno-gnu-unique
    # What GCC thinks of these depends on what it inlined; GCC 14 errs about an
    # empty absl::InlinedVector that is moved. Seen, but no reason to stop.
    -Wno-error=uninitialized -Wno-error=maybe-uninitialized)
endif()

if(REVERB_CLANG_THREAD_SAFETY)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "REVERB_CLANG_THREAD_SAFETY needs Clang")
  endif()
  target_compile_options(reverb_flags INTERFACE -Wthread-safety)
endif()

if(REVERB_SANITIZE)
  target_compile_options(reverb_flags INTERFACE
    -fsanitize=${REVERB_SANITIZE} -fno-omit-frame-pointer -O1)
  target_link_options(reverb_flags INTERFACE -fsanitize=${REVERB_SANITIZE})
  if(REVERB_SANITIZE MATCHES "address")
    # Abseil's hash tables change their layout under ASan unless told not to;
    # the archives are not instrumented, so both sides must agree.
    target_compile_definitions(reverb_flags INTERFACE NDEBUG_SANITIZER)
  endif()
  if(REVERB_SANITIZE MATCHES "undefined")
    target_compile_options(reverb_flags INTERFACE -fno-sanitize-recover=all)
  endif()
endif()
