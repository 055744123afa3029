#pragma once

#include <cstddef>
#include <cstdint>

#include "kron/base/process_settings.h"

// What krond and kron-exec agree on; docs/formats.md has it in words. Nothing that needs a library: kron-exec links
// none.
namespace kron::runner {

// kron-exec finds its world at these descriptors.
inline constexpr int kInstructionsDescriptor = 3;  // a memory file
inline constexpr int kGateDescriptor = 4;          // a socket
inline constexpr int kRunsDescriptor = 5;          // <state-dir>/runs
// Only with Tag::lease: a file whose first eight bytes are a time, in nanoseconds since boot, sleep included
// (CLOCK_BOOTTIME). When it has come and has not been moved on, the command's group is killed.
inline constexpr int kLeaseDescriptor = 6;
inline constexpr int kLastDescriptor = kLeaseDescriptor;

// At the gate. End of file means that the daemon died: nothing is executed, and a record says so.
inline constexpr char kGo = 'g';
inline constexpr char kAbandon = 'a';  // nothing is executed, and nothing left

// `kron-exec --serve` forks itself for each run instead of being executed for it, and finds these at its descriptors;
// the directory of all runs is where every kron-exec has it. The second argument is room for the name of what it
// becomes.
inline constexpr char kServeArgument[] = "--serve";
inline constexpr std::size_t kTitleSize = 128;
inline constexpr int kRequestsDescriptor = 3;  // a socket of packets; its end of file ends the server
inline constexpr int kForkedDescriptor =
    4;  // a memory file: the kernel writes the PID of a helper there as it makes it
// A request is the instructions with the gate, or, if they are longer than this, one byte with the gate and a memory
// file; the file of a lease, if there is one, goes with it as the last. The answer: a PID, or an errno below zero, in
// 32 bits.
inline constexpr std::size_t kMostInRequest = 32 << 10;
inline constexpr char kInFile[] = "f";  // that byte
inline constexpr std::size_t kMostPassed = 3;

inline constexpr char kStartedName[] = "started";
inline constexpr char kOutputName[] = "output";
inline constexpr char kExitName[] = "exit";

// Instructions: the mark, then records of a tag, a 32-bit length and that many bytes; `end` closes them. Numbers are
// in the machine's byte order; texts end with a NUL, which their length counts. An unknown tag is refused.
inline constexpr char kInstructionsMark[] = "KRX1";
inline constexpr std::size_t kMarkSize = 4;
inline constexpr std::size_t kRecordHead = 5;
inline constexpr std::size_t kMostInstructions = 8 << 20;

enum class Tag : std::uint8_t {
  end = 0,
  run_id = 1,
  argument = 2,           // text, repeated
  variable = 3,           // text NAME=value, repeated
  directory = 4,          // text
  default_directory = 5,  // text; / when it cannot be entered
  input = 6,              // bytes; absent: /dev/null
  user = 7,               // u32
  group = 8,              // u32
  groups = 9,             // u32 each
  umask = 10,             // u32
  nice = 11,              // i32
  limit = 12,             // u32 resource, u64 soft, u64 hard
  out = 13,               // u8 OutputKind, then a text for a file
  err = 14,               // the same
  capture = 15,           // u64 bytes
  timeout = 16,           // u64 nanoseconds; absent: none
  grace = 17,             // u64 nanoseconds
  failure = 18,           // u32 code, then a text: execute nothing, and record this
  cgroup = 19,            // text: the directory of cgroup v2 below which the run gets one; absent: none
  lease = 20,             // nothing: there is a lease (kLeaseDescriptor)
  retry = 21,             // u32: executed again so many times while it fails; absent: once is all
  backoff = 22,           // u32 seconds before the first of these (base/process_settings.h); absent: kUsualBackoff
  fails_on = 23,          // u8 FailsOn (base/failure_rule.h); absent: exit_code
  success_exit = 24,      // ExitCodes, four u64; absent: 0 alone
  memory_max = 25,        // u64 bytes, of all processes of the run together; absent: no limit, as of the next two
  tasks_max = 26,         // u32 processes and threads
  cpu_max = 27,           // u32 percent of one processor
  env_file = 28,          // text, repeated: a file with variables, read after the gate has opened
  credential = 29,        // text NAME=PATH, repeated: a file that the command gets a copy of
  credentials_at = 30,    // text: the directory below which the copies go; goes with the first of them
  mask_output = 31,       // nothing: values of the last two are masked in captured output
};

inline constexpr std::size_t kLimitSize = 20;

// The settings that go as they are, by what both sides write and read them: visit(tag, member). All members are named,
// so that one that is added and has no tag does not compile.
template <class Settings, class Visit>
constexpr void for_each_setting(Settings& settings, Visit visit) {
  auto& [umask, nice, retry, backoff, fails_on, success_exit, memory_max, tasks_max, cpu_max] = settings;
  visit(Tag::umask, umask);
  visit(Tag::nice, nice);
  visit(Tag::retry, retry);
  visit(Tag::backoff, backoff);
  visit(Tag::fails_on, fails_on);
  visit(Tag::success_exit, success_exit);
  visit(Tag::memory_max, memory_max);
  visit(Tag::tasks_max, tasks_max);
  visit(Tag::cpu_max, cpu_max);
}

// The variable with the PID of kron-exec, which it adds to those it was given: run ids follow from job and period, so
// another krond of the machine may have a run of the same id.
inline constexpr char kHelperVariable[] = "KRON_EXEC_PID";

// The variable that counts from 1 in a run that may have several attempts; kron-exec adds it to those it was given.
inline constexpr char kAttemptVariable[] = "KRON_ATTEMPT";

// The variable that names the directory with the run's credentials, as systemd has it.
inline constexpr char kCredentialsVariable[] = "CREDENTIALS_DIRECTORY";
// What stands in captured output where a secret was.
inline constexpr char kMasked[] = "[masked]";
inline constexpr char kOutOfMemory[] = "killed: memory_max";  // the reason of such an end, or its end

// A smaller cap on the captured output is read as this one.
inline constexpr std::uint64_t kLeastCapture = 4096;

// To kron-exec: end the command's process group. TERM is followed by KILL after the grace.
inline constexpr int kTerminateSignal = 15;  // SIGTERM
inline constexpr int kKillSignal = 10;       // SIGUSR1

// Exit statuses of kron-exec itself; the command's is in the exit record.
inline constexpr int kRecorded = 0;
inline constexpr int kBadInstructions = 64;
inline constexpr int kNotRecorded = 74;

inline constexpr int kCannotExecute = 126;
inline constexpr int kNotFound = 127;

// The exit record: these lines, between the first and the last key=value pairs in any order.
inline constexpr char kRecordFirstLine[] = "kron-exit 1";
inline constexpr char kRecordLastLine[] = "end";
inline constexpr char kTimedOut[] = "timed out after";  // how the reason of such an end begins
inline constexpr char kWroteErrors[] = "wrote to standard error";
inline constexpr char kLeaseOver[] = "killed because its lock was not renewed in time";  // such a reason, or its end
inline constexpr char kLeaseOverBefore[] = "its lock had run out before it was let go";  // nothing was executed
inline constexpr std::size_t kMostRecord = 4096;

// The start record has the same shape: `session` is the PID that leads the command's session, `tick` the time since
// boot when that was written, in the clock ticks that /proc counts in, `cgroup` the directory of the run's cgroup.
inline constexpr char kStartedFirstLine[] = "kron-started 1";
inline constexpr std::int64_t kTicksPerSecond = 100;

// The name of a run's cgroup begins with this, followed by the run id.
inline constexpr char kCgroupPrefix[] = "kron-";
// A longer path of krond's own cgroup is not used: what is made of it must fit into the start record.
inline constexpr std::size_t kMostCgroupPath = 2048;

}  // namespace kron::runner
