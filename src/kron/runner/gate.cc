#include "kron/runner/gate.h"

#include <sys/mman.h>
#include <sys/socket.h>

#include "kron/env/system_error.h"
#include "kron/runner/helper_program.h"

namespace kron::runner {

Result<Gate> make_gate() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail(system_error("create", "a gate for kron-exec", errno));
  }
  Gate gate{Descriptor(ends[0]), out_of_the_way(Descriptor(ends[1]))};
  if (!gate.theirs) return fail(system_error("open", "the descriptors of kron-exec", errno));
  return gate;
}

bool tell(const Descriptor& gate, char word) {
  return uninterrupted([&] { return ::send(gate.get(), &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT); }) == 1;
}

Result<Descriptor> memory_file(const std::string& bytes) {
  Descriptor file(::memfd_create("kron-instructions", MFD_CLOEXEC));
  if (!file) return fail(system_error("create", "a memory file for kron-exec", errno));
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t taken = uninterrupted([&] { return ::write(file.get(), bytes.data() + at, bytes.size() - at); });
    if (taken < 0) return fail(system_error("write", "a memory file for kron-exec", errno));
    at += static_cast<std::size_t>(taken);
  }
  return file;
}

}  // namespace kron::runner
