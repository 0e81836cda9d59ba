# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
#
# The libraries that are linked in: Debian's static archives, and the position
# independent Abseil and re2 of scripts/build_pic_deps.
#
#   reverb_absl    all of Abseil
#   reverb_snappy  snappy
#   reverb_grpc    gRPC C++ with TLS, and what it needs
#
# No find_package(gRPC): Debian's package file names the shared libraries, and
# those clash with TensorFlow's gRPC in one process.

find_package(Threads REQUIRED)

set(_pic_arguments "")
if(REVERB_SANITIZE STREQUAL "thread")
  # Uninstrumented locks would be reported as races.
  set(_pic_arguments "--sanitize=thread")
endif()
execute_process(
  COMMAND "${PROJECT_SOURCE_DIR}/scripts/build_pic_deps" ${_pic_arguments}
  OUTPUT_VARIABLE REVERB_PIC_ROOT
  OUTPUT_STRIP_TRAILING_WHITESPACE
  COMMAND_ERROR_IS_FATAL ANY)
message(STATUS "Abseil and re2: ${REVERB_PIC_ROOT}")

function(reverb_find_archive name result)
  find_library(REVERB_ARCHIVE_${name} NAMES lib${name}.a REQUIRED)
  set(${result} "${REVERB_ARCHIVE_${name}}" PARENT_SCOPE)
endfunction()

# Archives of Abseil depend on each other in no useful order: one group.
file(GLOB _absl_archives "${REVERB_PIC_ROOT}/lib/libabsl_*.a")
add_library(reverb_absl INTERFACE)
list(JOIN _absl_archives "," _absl_group)
target_link_libraries(reverb_absl INTERFACE
  "$<LINK_GROUP:RESCAN,${_absl_group}>" Threads::Threads)

reverb_find_archive(snappy _snappy)
add_library(reverb_snappy INTERFACE)
target_link_libraries(reverb_snappy INTERFACE "${_snappy}")

set(_grpc_archives "")
foreach(_name grpc++ grpc upb address_sorting gpr cares ssl crypto z)
  reverb_find_archive(${_name} _archive)
  list(APPEND _grpc_archives "${_archive}")
endforeach()
# From 3.5 on OpenSSL compresses certificates with zstd.
find_library(REVERB_ARCHIVE_zstd NAMES libzstd.a)
if(REVERB_ARCHIVE_zstd)
  list(APPEND _grpc_archives "${REVERB_ARCHIVE_zstd}")
endif()
# Newer gRPC packages split upb; take whatever of it is there.
file(GLOB _upb_parts
     "/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/libupb_*.a"
     "/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/libutf8_range*.a")
list(APPEND _grpc_archives ${_upb_parts} "${REVERB_PIC_ROOT}/lib/libre2.a")
list(JOIN _grpc_archives "," _grpc_group)
add_library(reverb_grpc INTERFACE)
target_link_libraries(reverb_grpc INTERFACE
  "$<LINK_GROUP:RESCAN,${_grpc_group}>" reverb_absl Threads::Threads
  ${CMAKE_DL_LIBS})
