# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
#
# The extension module reverb._core.

# Python_EXECUTABLE decides which Python the module is for; pybind11 and NumPy's
# headers come from its packages.
find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)

execute_process(
  COMMAND "${Python_EXECUTABLE}" -c "import pybind11; print(pybind11.get_include())"
  OUTPUT_VARIABLE REVERB_PYBIND11_INCLUDE OUTPUT_STRIP_TRAILING_WHITESPACE
  RESULT_VARIABLE _pybind11_missing ERROR_QUIET)
execute_process(
  COMMAND "${Python_EXECUTABLE}" -c "import numpy; print(numpy.get_include())"
  OUTPUT_VARIABLE REVERB_NUMPY_INCLUDE OUTPUT_STRIP_TRAILING_WHITESPACE
  RESULT_VARIABLE _numpy_missing ERROR_QUIET)
if(_pybind11_missing OR _numpy_missing)
  message(FATAL_ERROR
    "${Python_EXECUTABLE} lacks pybind11 or numpy. Run `make venv` and use "
    "-DPython_EXECUTABLE=.venv/bin/python, or -DREVERB_BUILD_PYTHON=OFF.")
endif()

# reverb_extension(DEPENDS <folders>)
#
# Target _core of all sources in reverb/cc/python. After each link
# scripts/check_symbols looks at what the module shows and wants.
function(reverb_extension)
  cmake_parse_arguments(PARSE_ARGV 0 _arg "" "" "DEPENDS")
  file(GLOB _sources CONFIGURE_DEPENDS
       "${PROJECT_SOURCE_DIR}/reverb/cc/python/*.cc")
  if(NOT _sources)
    message(WARNING "reverb/cc/python has no sources: no extension is built")
    return()
  endif()
  set(_libraries ${_arg_DEPENDS})
  list(TRANSFORM _libraries PREPEND reverb_)

  set(_exports "${PROJECT_SOURCE_DIR}/cmake/exports.map")
  Python_add_library(_core MODULE WITH_SOABI ${_sources})
  target_include_directories(_core SYSTEM PRIVATE
    "${REVERB_PYBIND11_INCLUDE}" "${REVERB_NUMPY_INCLUDE}")
  target_link_libraries(_core PRIVATE reverb_flags ${_libraries})
  target_link_options(_core PRIVATE
    LINKER:--exclude-libs,ALL
    "LINKER:--version-script=${_exports}"
    LINKER:--gc-sections
    LINKER:-Bsymbolic
    LINKER:--as-needed
    LINKER:-z,relro,-z,now)
  set_target_properties(_core PROPERTIES
    LINK_DEPENDS "${_exports}"
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/python/reverb")

  set(_check_arguments "")
  if(REVERB_SANITIZE)
    set(_check_arguments --sanitized)
  endif()
  add_custom_command(TARGET _core POST_BUILD
    COMMAND "${Python_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/scripts/check_symbols"
            ${_check_arguments} "$<TARGET_FILE:_core>"
    VERBATIM)
  if(REVERB_INPLACE)
    # Renamed into place: a process that has the old file mapped keeps it.
    add_custom_command(TARGET _core POST_BUILD
      COMMAND "${CMAKE_COMMAND}" -E copy "$<TARGET_FILE:_core>"
              "${PROJECT_SOURCE_DIR}/reverb/.$<TARGET_FILE_NAME:_core>.new"
      COMMAND "${CMAKE_COMMAND}" -E rename
              "${PROJECT_SOURCE_DIR}/reverb/.$<TARGET_FILE_NAME:_core>.new"
              "${PROJECT_SOURCE_DIR}/reverb/$<TARGET_FILE_NAME:_core>"
      VERBATIM)
  endif()
endfunction()
