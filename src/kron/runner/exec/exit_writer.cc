#include "kron/runner/exec/exit_writer.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <linux/fs.h>
#include <unistd.h>

#include "kron/runner/exec/small_steps.h"
#include "kron/runner/protocol.h"

namespace kron::exec {
namespace {

constexpr char kNextName[] = ".exit";
constexpr char kNeverRanName[] = ".never-ran";

// A reason quotes paths, which may hold anything; a record's line is one line.
void write_reason(RecordText& text, const char* reason) {
  char clean[sizeof(Ending::reason)];
  std::size_t size = 0;
  for (; reason[size] != 0 && size < sizeof clean - 1; ++size) {
    const unsigned char c = static_cast<unsigned char>(reason[size]);
    clean[size] = c < ' ' || c == 0x7f ? '?' : reason[size];
  }
  text.line("reason=", {clean, size});
}

void write_time(RecordText& text, const char* key, const timespec& time) {
  constexpr int kDecimals = 9;
  text.text(key).number(static_cast<std::uint64_t>(time.tv_sec)).text(".");
  text.number(static_cast<std::uint64_t>(time.tv_nsec), kDecimals).end_line();
}

void write_usage(RecordText& text, const RunUsage& used) {
  text.line("user_us=", static_cast<std::uint64_t>(used.user.count()));
  text.line("system_us=", static_cast<std::uint64_t>(used.system.count()));
  text.line("memory=", used.memory);
  text.line("read=", used.read);
  text.line("written=", used.written);
}

void write_record(RecordText& text, const char* run_id, const Ending& ending) {
  text.line(runner::kRecordFirstLine);
  text.line("run=", run_id);
  if (ending.code) text.line("code=", static_cast<std::uint64_t>(*ending.code));
  if (ending.signal != 0) text.line("signal=", static_cast<std::uint64_t>(ending.signal));
  if (ending.failed) text.line("failed=", *ending.failed ? "yes" : "no");
  if (ending.attempts > 1) text.line("attempts=", std::uint64_t{ending.attempts});
  if (ending.reason[0] != 0) write_reason(text, ending.reason);
  if (ending.started.tv_sec != 0) write_time(text, "started=", ending.started);
  write_time(text, "ended=", ending.ended);
  text.line("output=", ending.output_bytes);
  text.line("lost=", ending.output_lost);
  if (ending.used) write_usage(text, *ending.used);
  if (ending.output_error != 0) text.line("output_error=", strerrordesc_np(ending.output_error));
  text.line(runner::kRecordLastLine);
}

}  // namespace

// By truncation, for which a full disk has room.
void forget_session(RunDirectory& run_directory) {
  const int fd = ::openat(run_directory.get(), runner::kStartedName, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW);
  if (fd >= 0) ::close(fd);
}

bool write_exit(RunDirectory& run_directory, const char* run_id, const Ending& ending) {
  const int directory = run_directory.get();
  RecordText text;
  write_record(text, run_id, ending);
  // The next daemon may have started the run anew, and it may have ended before we came to say that it never ran.
  const bool may_be_late = !ending.code;
  const char* next_name = may_be_late ? kNeverRanName : kNextName;
  const int fd = ::openat(directory, next_name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return false;
  const std::string_view all = text.all();
  const bool whole = ::write(fd, all.data(), all.size()) == static_cast<ssize_t>(all.size());
  ::close(fd);
  const unsigned flags = may_be_late ? RENAME_NOREPLACE : 0U;
  if (whole && ::renameat2(directory, next_name, directory, runner::kExitName, flags) == 0) return true;
  const bool is_told_otherwise = may_be_late && errno == EEXIST;
  ::unlinkat(directory, next_name, 0);
  return whole && is_told_otherwise;
}

}  // namespace kron::exec
