# What `cmake --install` lays down: the programs with their pages, units and completions, and the library kron::core with its CMake package.
include(CMakePackageConfigHelpers)

set(KRON_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/kron)

install(TARGETS kron RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS krond kron-operator RUNTIME DESTINATION ${CMAKE_INSTALL_SBINDIR})
# krond looks for it in ../libexec/kron, as seen from where krond is.
install(TARGETS kron-exec RUNTIME DESTINATION libexec/kron)
install(FILES ${PROJECT_SOURCE_DIR}/man/kron.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${PROJECT_SOURCE_DIR}/man/kron-jobs.5 DESTINATION ${CMAKE_INSTALL_MANDIR}/man5)
install(FILES ${PROJECT_SOURCE_DIR}/man/krond.8 ${PROJECT_SOURCE_DIR}/man/kron-operator.8
        DESTINATION ${CMAKE_INSTALL_MANDIR}/man8)
set(completions ${PROJECT_BINARY_DIR}/completions)
install(FILES ${completions}/kron ${completions}/krond ${completions}/kron-operator
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${completions}/_kron ${completions}/_krond ${completions}/_kron-operator
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${completions}/kron.fish ${completions}/krond.fish ${completions}/kron-operator.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# The prefix is known when it is installed, not before. systemd looks below /usr/local/lib and /usr/lib, whatever the
# directory of the libraries is.
function(kron_install_unit source directory unit_name)
  install(CODE "
    file(READ \"${PROJECT_SOURCE_DIR}/deploy/${source}\" unit)
    string(REPLACE /usr/local/sbin/ \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_SBINDIR}/\" unit \"\${unit}\")
    string(REPLACE /usr/local/bin/ \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/\" unit \"\${unit}\")
    file(WRITE \"${PROJECT_BINARY_DIR}/${directory}/${unit_name}\" \"\${unit}\")
    file(INSTALL DESTINATION \"\${CMAKE_INSTALL_PREFIX}/lib/systemd/${directory}\" TYPE FILE
         FILES \"${PROJECT_BINARY_DIR}/${directory}/${unit_name}\")")
endfunction()
kron_install_unit(krond.service system krond.service)
kron_install_unit(krond-user.service user krond.service)
kron_install_unit(kron-web.service system kron-web.service)
kron_install_unit(kron-web.socket system kron-web.socket)
kron_install_unit(kron-web-certificate.path system kron-web-certificate.path)
kron_install_unit(kron-web-certificate.service system kron-web-certificate.service)

# For those who watch, for those who have a cluster of Kubernetes, and for those who write workers.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/deploy/prometheus ${PROJECT_SOURCE_DIR}/deploy/grafana
        DESTINATION ${CMAKE_INSTALL_DATADIR}/kron)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/deploy/kubernetes DESTINATION ${CMAKE_INSTALL_DATADIR}/kron
        PATTERN Dockerfile EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/workers DESTINATION ${CMAKE_INSTALL_DATADIR}/kron USE_SOURCE_PERMISSIONS)

install(TARGETS kron_base kron_core EXPORT kron ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

# The public headers; the others of a room are its own business.
set(KRON_BASE_HEADERS duration.h instant.h result.h rfc3339.h sha256.h text.h)
set(KRON_CORE_HEADERS allowed_share.h civil.h constraints.h cron_args.h decision.h distribution.h dst_rule.h evaluate.h
                      execution.h job.h make_job.h open_periods.h schedule.h state.h time_zone.h window.h)
foreach(room BASE CORE)
  string(TOLOWER ${room} directory)
  list(TRANSFORM KRON_${room}_HEADERS PREPEND ${PROJECT_SOURCE_DIR}/src/kron/${directory}/)
  install(FILES ${KRON_${room}_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kron/${directory})
endforeach()

install(EXPORT kron NAMESPACE kron:: FILE kron-targets.cmake DESTINATION ${KRON_PACKAGE_DIR})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/kron-config.cmake.in ${PROJECT_BINARY_DIR}/kron-config.cmake
                              INSTALL_DESTINATION ${KRON_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kron-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/kron-config.cmake ${PROJECT_BINARY_DIR}/kron-config-version.cmake
        DESTINATION ${KRON_PACKAGE_DIR})
