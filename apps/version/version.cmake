# Writes OUTPUT, which tells VERSION, and of a working tree of git which commit it is built from, unless that is the
# release itself. Without git, and in a tarball, also one that is unpacked inside of another tree, VERSION is all there is
# to tell. What has not changed is not written, so that nothing is compiled again.
#   cmake -DSOURCE=… -DVERSION=… -DOUTPUT=… -P version.cmake
set(told ${VERSION})
find_program(GIT git)
if(GIT AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND ${GIT} -C ${SOURCE} describe --tags --always --dirty --match v[0-9]*
                  OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed AND described MATCHES "^[0-9A-Za-z.-]+$" AND NOT described STREQUAL "v${VERSION}")
    set(told "${VERSION} (${described})")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include "version.h"

namespace kron {

const char* told_version() { return "@told@"; }

}  // namespace kron
]])
