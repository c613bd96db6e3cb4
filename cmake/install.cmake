# SPDX-License-Identifier: Apache-2.0
#
# Headers, library, find_package(detops) and pkg-config.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS detops EXPORT detops-targets)
if(TARGET detops_cuda)
  # Beside libdetops, which looks for it there.
  install(TARGETS detops_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TARGET detops_mlu)
  # The same; whoever builds the library alone installs the library alone.
  install(TARGETS detops_mlu LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} OPTIONAL)
  if(DETOPS_MLU_IS_SIMULATED)
    # Under the name that the loader looks for. The compiler and the headers are bang's own component.
    install(FILES $<TARGET_FILE:bang> DESTINATION ${CMAKE_INSTALL_LIBDIR}
      RENAME $<TARGET_SONAME_FILE_NAME:bang> OPTIONAL)
  endif()
endif()
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(EXPORT detops-targets NAMESPACE detops:: FILE detops-config.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/detops)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/detops-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/detops-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/detops)

file(RELATIVE_PATH detops_include_from_lib /${CMAKE_INSTALL_LIBDIR} /${CMAKE_INSTALL_INCLUDEDIR})
configure_file(cmake/detops.pc.in detops.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/detops.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
