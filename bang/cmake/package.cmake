# SPDX-License-Identifier: Apache-2.0
#
# Headers, libbang, bangcc and find_package(bang), all of the component "bang"; as a part of another
# project they are installed where that component is asked for.
include(CMakePackageConfigHelpers)
include(${CMAKE_CURRENT_LIST_DIR}/bang-functions.cmake)
add_library(bang::bang ALIAS bang)
add_executable(bang::bangcc ALIAS bangcc)

set(bang_unasked)
if(NOT PROJECT_IS_TOP_LEVEL)
  set(bang_unasked EXCLUDE_FROM_ALL)
endif()
set(bang_package ${CMAKE_INSTALL_LIBDIR}/cmake/bang)
install(TARGETS bang bangcc EXPORT bang-targets
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT bang ${bang_unasked}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT bang NAMELINK_COMPONENT bang ${bang_unasked})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/bang
  COMPONENT bang ${bang_unasked})
install(EXPORT bang-targets NAMESPACE bang:: DESTINATION ${bang_package} COMPONENT bang ${bang_unasked})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/bang-config.cmake.in
  ${PROJECT_BINARY_DIR}/bang-config.cmake INSTALL_DESTINATION ${bang_package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/bang-config-version.cmake
  VERSION 0.1.0 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/bang-config.cmake ${PROJECT_BINARY_DIR}/bang-config-version.cmake
  ${CMAKE_CURRENT_LIST_DIR}/bang-functions.cmake DESTINATION ${bang_package}
  COMPONENT bang ${bang_unasked})
