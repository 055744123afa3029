#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kron/env/log.h"

namespace kron::testing {

class CapturingLog : public Log {
 public:
  struct Line {
    LogLevel level = LogLevel::info;
    std::string event;
    std::vector<std::pair<std::string, std::string>> fields;

    // Empty when the line has no such key.
    std::string field(std::string_view key) const {
      for (const auto& [own_key, value] : fields) {
        if (own_key == key) return value;
      }
      return {};
    }
  };

  void write(LogLevel level, std::string_view event, std::span<const LogField> fields) override {
    Line& line = lines_.emplace_back(Line{level, std::string(event), {}});
    for (const LogField& field : fields) {
      line.fields.emplace_back(field.key, std::visit(TextOf{}, field.value));
    }
  }

  const std::vector<Line>& lines() const { return lines_; }

  std::vector<Line> lines_of(std::string_view event) const {
    std::vector<Line> found;
    for (const Line& line : lines_) {
      if (line.event == event) found.push_back(line);
    }
    return found;
  }

 private:
  struct TextOf {
    std::string operator()(std::string_view text) const { return std::string(text); }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(LogJson json) const { return std::string(json.text); }
  };

  std::vector<Line> lines_;
};

}  // namespace kron::testing
