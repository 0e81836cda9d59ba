# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
#
# One library per folder of reverb/cc, one test program per folder of tests/cc.

# reverb_library(<folder> DEPENDS <folders> LINK <libraries>)
#
# Target reverb_<folder> of all sources in reverb/cc/<folder>. A folder without
# sources (headers alone, or not there yet) becomes an interface library.
function(reverb_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 _arg "" "" "DEPENDS;LINK")
  file(GLOB _sources CONFIGURE_DEPENDS
       "${PROJECT_SOURCE_DIR}/reverb/cc/${folder}/*.cc")
  set(_target reverb_${folder})
  set(_libraries ${_arg_DEPENDS})
  list(TRANSFORM _libraries PREPEND reverb_)
  list(APPEND _libraries ${_arg_LINK} reverb_absl)
  if(_sources)
    add_library(${_target} STATIC ${_sources})
    target_link_libraries(${_target} PUBLIC reverb_flags ${_libraries})
    set_property(GLOBAL APPEND PROPERTY REVERB_LIBRARIES ${_target})
  else()
    add_library(${_target} INTERFACE)
    target_link_libraries(${_target} INTERFACE reverb_flags ${_libraries})
  endif()
endfunction()

# reverb_tests(<folders>)
#
# Target <folder>_test of all sources in tests/cc/<folder>, known to ctest under
# that name. Links the folder's own library and what that depends on.
function(reverb_tests)
  reverb_find_archive(gtest _gtest)
  reverb_find_archive(gtest_main _gtest_main)
  reverb_find_archive(gmock _gmock)
  set(_targets "")
  foreach(_folder IN LISTS ARGN)
    file(GLOB _sources CONFIGURE_DEPENDS
         "${PROJECT_SOURCE_DIR}/tests/cc/${_folder}/*.cc")
    if(NOT _sources)
      continue()
    endif()
    set(_target ${_folder}_test)
    add_executable(${_target} ${_sources})
    target_link_libraries(${_target} PRIVATE
      reverb_${_folder} "${_gtest_main}" "${_gmock}" "${_gtest}"
      Threads::Threads)
    target_link_options(${_target} PRIVATE LINKER:--gc-sections)
    if(REVERB_SANITIZE)
      # GCC's flow analysis errs about inlined vectors in instrumented code.
      set(_options $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
      if(REVERB_SANITIZE MATCHES "address")
        # To optimise instrumented assertions takes half of the build's time.
        list(APPEND _options -O0)
      endif()
      set_source_files_properties(${_sources} PROPERTIES
        COMPILE_OPTIONS "${_options}")
    endif()
    add_test(NAME ${_target} COMMAND ${_target} --gtest_brief=1)
    set_tests_properties(${_target} PROPERTIES
      TIMEOUT 600
      # Vectors and other data are found from the root of the tree.
      WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
      LABELS "${_folder}")
    list(APPEND _targets ${_target})
  endforeach()
  add_custom_target(cc_tests DEPENDS ${_targets})
endfunction()

# reverb_aggregate()
#
# Target cc_libraries: all folders but python, for `make check`.
function(reverb_aggregate)
  get_property(_targets GLOBAL PROPERTY REVERB_LIBRARIES)
  add_custom_target(cc_libraries DEPENDS ${_targets})
endfunction()
