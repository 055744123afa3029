#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <linux/close_range.h>
#include <optional>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kron/runner/exec/exit_writer.h"
#include "kron/runner/exec/helper_fork.h"
#include "kron/runner/exec/instruction_reader.h"
#include "kron/runner/exec/small_steps.h"
#include "kron/runner/exec/supervisor.h"
#include "kron/runner/protocol.h"

namespace {

// This program is one side of that protocol, and nothing else.
using namespace kron::exec;    // NOLINT(google-build-using-namespace)
using namespace kron::runner;  // NOLINT(google-build-using-namespace)

void keep_only_our_descriptors() {
  ::close_range(kLastDescriptor + 1, UINT_MAX, 0);
  ::close_range(kInstructionsDescriptor, kLastDescriptor, CLOSE_RANGE_CLOEXEC);
}

// krond starts us with all signals blocked and none ignored; this holds it for whoever else does.
void block_signals() {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
}

const char* read_file(Instructions& instructions) {
  struct stat about {};
  if (::fstat(kInstructionsDescriptor, &about) != 0 || about.st_size <= 0 ||
      static_cast<std::size_t>(about.st_size) > kMostInstructions) {
    return "kron-exec is started by krond; it does nothing by itself";
  }
  const std::size_t size = static_cast<std::size_t>(about.st_size);
  void* bytes = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, kInstructionsDescriptor, 0);
  if (bytes == MAP_FAILED) return "cannot read the instructions";
  return read_instructions(static_cast<char*>(bytes), size, instructions);
}

// What krond says, or 0: it is dead.
char wait_at_gate() {
  char word = 0;
  while (::read(kGateDescriptor, &word, 1) < 0 && errno == EINTR) continue;
  return word;
}

// Nothing: abandoned, and there is nothing to record.
std::optional<Ending> run(Instructions& instructions, RunDirectory& directory) {
  Ending ending;
  Supervisor supervisor(instructions, directory);
  if (instructions.failure == nullptr) supervisor.prepare();
  const char word = wait_at_gate();
  if (word == kAbandon) return std::nullopt;
  if (word == kGo) directory.note_start();
  if (word != kGo) {
    // If the daemon dies before it opens the gate, this tells the next one for certain that nothing has run.
    std::snprintf(ending.reason, sizeof ending.reason, "the daemon ended before it let this run go");
  } else if (instructions.failure == nullptr) {
    return supervisor.run();
  } else {
    ending.code = instructions.failure_code;
    std::snprintf(ending.reason, sizeof ending.reason, "%s", instructions.failure);
  }
  ending.ended = time_now(CLOCK_REALTIME);
  return ending;
}

int serve_or_run(int count, char** arguments) {
  keep_only_our_descriptors();
  block_signals();
  const bool was_forked = is_server(count, arguments);
  const Request request = was_forked ? serve() : Request();
  Instructions instructions;
  const char* const problem =
      request.bytes != nullptr ? read_instructions(request.bytes, request.size, instructions) : read_file(instructions);
  if (problem != nullptr) {
    ::dprintf(STDERR_FILENO, "kron-exec: %s\n", problem);
    return kBadInstructions;
  }
  if (!instructions.has_lease) ::close(kLeaseDescriptor);
  if (was_forked) set_title(arguments, instructions.run_id);
  RunDirectory directory(kRunsDescriptor, instructions.run_id);
  const std::optional<Ending> ending = run(instructions, directory);
  if (!ending || write_exit(directory, instructions.run_id, *ending)) return kRecorded;
  forget_session(directory);
  return kNotRecorded;
}

}  // namespace

// At once: there is nothing to be done at exit, and looking for it touches pages (small_steps.h).
int main(int count, char** arguments) { ::_exit(serve_or_run(count, arguments)); }
