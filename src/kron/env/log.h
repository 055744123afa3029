#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace kron {

enum class LogLevel : std::uint8_t { debug, info, warning, error };

// A value that is JSON already: it stands in a line as it is, not as a text that holds it.
struct LogJson {
  std::string_view text;
};

struct LogField {
  std::string_view key;
  std::variant<std::string_view, std::int64_t, LogJson> value;
};

// Where events go, each a name and key/value pairs; how a line looks is the sink's business.
class Log {
 public:
  virtual ~Log() = default;

  // The views live only as long as the call.
  virtual void write(LogLevel level, std::string_view event, std::span<const LogField> fields) = 0;

  void info(std::string_view event, std::initializer_list<LogField> fields) { write(LogLevel::info, event, fields); }
  void warning(std::string_view event, std::initializer_list<LogField> fields) {
    write(LogLevel::warning, event, fields);
  }
  void error(std::string_view event, std::initializer_list<LogField> fields) { write(LogLevel::error, event, fields); }
};

}  // namespace kron
