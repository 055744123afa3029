#pragma once

#include <initializer_list>
#include <spawn.h>
#include <string>
#include <sys/types.h>

#include "kron/base/result.h"
#include "kron/env/descriptor.h"

namespace kron::runner {

// kron-exec as a file. It is executed in a process group of its own, with all signals blocked and none ignored, an
// empty environment, and three or four descriptors beside the standard ones (protocol.h). By posix_spawn: it takes the
// same time however large we are.
class HelperProgram {
 public:
  explicit HelperProgram(std::string path);
  ~HelperProgram();
  HelperProgram(const HelperProgram&) = delete;
  HelperProgram& operator=(const HelperProgram&) = delete;

  // The PID of a child of ours. The descriptors become 3, 4, 5 and, unless it is -1, 6; none of them has one of these
  // numbers.
  Result<pid_t> execute(int third, int fourth, int fifth, int sixth,
                        std::initializer_list<std::string> arguments) const;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  posix_spawnattr_t attributes_;
};

// The same descriptor with a number that is not one of kron-exec's: giving it one would close another that is still to
// be given. Nothing and errno when there is none left.
Descriptor out_of_the_way(Descriptor own);

}  // namespace kron::runner
