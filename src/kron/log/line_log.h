#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "kron/env/clock.h"
#include "kron/env/log.h"
#include "kron/log/log_output.h"

namespace kron {

enum class LogFormat : std::uint8_t { text, json };

// One line an event, `ts level event key=value …` or a JSON object with the same names, on a descriptor; fields that
// are empty are left out. The text of `run_started` has only what people look for, unless `least` is debug. Lines of
// the thread that made it are gathered until flush(), so that a busy turn writes once; an error, and what other threads
// write, goes out at once.
//
// Nobody waits for the reader of the log. What he does not take is kept, up to kMostKept bytes; beyond that lines are
// dropped, until he has taken all that was kept. Then the line `log_lines_dropped` says how many are missing there.
class LineLog : public Log {
 public:
  static constexpr std::size_t kMostKept = 1 << 20;

  // `descriptor` and `clock` outlive the log.
  LineLog(int descriptor, const Clock& clock, LogFormat format, LogLevel least);
  ~LineLog() override { finish(kAtTheEnd); }

  void write(LogLevel level, std::string_view event, std::span<const LogField> fields) override;

  // A line that is no event, such as the last words of a program.
  void write_text(std::string_view line);

  // Writes what the reader takes now, and says what is left for another flush: some of it, of which he took a part now,
  // or some, of which he took nothing.
  enum class Left : std::uint8_t { nothing, moving, stuck };
  Left flush();

  // For the end of a program: waits for the reader, but no longer than that. False: something is left.
  bool finish(Nanoseconds longest = kAtTheEnd);

 private:
  static constexpr Nanoseconds kAtTheEnd = std::chrono::seconds(1);

  std::string line_of(LogLevel level, std::string_view event, std::span<const LogField> fields) const;
  void keep(std::string_view line);
  void note_dropped();
  Left flush_lines();
  void drop_kept();

  const Clock& clock_;
  LogFormat format_;
  LogLevel least_;
  std::thread::id owner_ = std::this_thread::get_id();
  std::mutex mutex_;
  LogOutput output_;
  std::string lines_;  // from `sent_` on, they wait for the reader
  std::size_t sent_ = 0;
  std::size_t notice_end_ = 0;  // lines_ begins with a notice that ends here, of so many lines:
  std::int64_t noticed_ = 0;
  std::int64_t dropped_ = 0;  // since then
};

std::string_view name_of(LogLevel level);

// How one event looks, without its newline.
std::string text_line(WallTime at, LogLevel level, std::string_view event, std::span<const LogField> fields);
std::string json_line(WallTime at, LogLevel level, std::string_view event, std::span<const LogField> fields);

}  // namespace kron
