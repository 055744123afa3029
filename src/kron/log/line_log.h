#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "kron/env/clock.h"
#include "kron/env/log.h"

namespace kron {

enum class LogFormat : std::uint8_t { text, json };

// One line an event, `ts level event key=value …` or a JSON object with the same names, on a descriptor; fields that
// are empty are left out. Lines of the thread that made it are gathered until flush(), so that a busy turn writes once;
// an error, and what other threads write, goes out at once.
class LineLog : public Log {
 public:
  // `descriptor` and `clock` outlive the log.
  LineLog(int descriptor, const Clock& clock, LogFormat format, LogLevel least);
  ~LineLog() override { flush(); }

  void write(LogLevel level, std::string_view event, std::span<const LogField> fields) override;
  void flush();

 private:
  void flush_lines();

  int descriptor_;
  const Clock& clock_;
  LogFormat format_;
  LogLevel least_;
  std::thread::id owner_ = std::this_thread::get_id();
  std::mutex mutex_;
  std::string lines_;
};

std::string_view name_of(LogLevel level);

// How one event looks, without its newline.
std::string text_line(WallTime at, LogLevel level, std::string_view event, std::span<const LogField> fields);
std::string json_line(WallTime at, LogLevel level, std::string_view event, std::span<const LogField> fields);

}  // namespace kron
