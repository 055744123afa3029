#include "kron/runner/spawner.h"

#include <fcntl.h>

#include "kron/env/system_error.h"
#include "kron/runner/gate.h"
#include "kron/runner/protocol.h"

namespace kron::runner {

Spawner::Spawner(const HelperProgram& program, int runs)
    : program_(program), runs_(::fcntl(runs, F_DUPFD_CLOEXEC, kLastDescriptor + 1)) {}

Result<Spawned> Spawner::spawn(const std::string& instructions, int lease) {
  Result<Descriptor> file = memory_file(instructions);
  if (!file) return fail(std::move(file.error()));
  const Descriptor read_end = out_of_the_way(*std::move(file));
  const Descriptor own_lease(lease < 0 ? -1 : ::fcntl(lease, F_DUPFD_CLOEXEC, kLastDescriptor + 1));
  if (!read_end || !runs_ || (lease >= 0 && !own_lease))
    return fail(system_error("open", "the descriptors of kron-exec", errno));
  Result<Gate> gate = make_gate();
  if (!gate) return fail(std::move(gate.error()));
  const Result<pid_t> pid = program_.execute(read_end.get(), gate->theirs.get(), runs_.get(), own_lease.get(), {});
  if (!pid) return fail(pid.error());
  return Spawned{*pid, std::move(gate->ours)};
}

}  // namespace kron::runner
