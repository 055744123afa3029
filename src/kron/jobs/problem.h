#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "kron/base/result.h"
#include "kron/json/document.h"

namespace kron::jobs {

enum class Severity : std::uint8_t {
  error,    // the definition is refused
  warning,  // it loads, and probably does not do what its author wants
  note,     // worth knowing: something was not carried over, a file was passed by
};
std::string_view name_of(Severity severity);

// One thing to say about a job file, complete in itself: it can be shown when the file's text is gone.
struct Problem {
  Severity severity = Severity::error;
  std::string file;
  Position at;              // 0: the file as a whole
  std::string field;        // the model's key, dotted ("window.duration"); may be empty
  std::string message;      // what is wrong
  std::string cure;         // what would be right; may be empty
  std::string source_line;  // the offending line, cut around the column when it is long; empty when there is none
  std::size_t caret = 0;    // 1-based byte in source_line; 0: no caret

  bool operator==(const Problem&) const = default;
};

// `file:line:column: error: message`, the line, a caret under the column, the cure. Ends with a newline.
std::string text_of(const Problem& problem);

// For one-line inputs (`kron decide`): message and cure in one sentence, the key as field.
Error error_of(const Problem& problem);

// Collects what there is to say about one text. The same sentence about the same place is kept once, so a mistake in
// `defaults:` is not repeated for every job. `text` must outlive the report.
class Report {
 public:
  Report(std::string file, std::string_view text) : file_(std::move(file)), text_(text) {}

  void error(Position at, std::string field, std::string message, std::string cure = {});
  void warn(Position at, std::string field, std::string message, std::string cure = {});
  void note(Position at, std::string field, std::string message, std::string cure = {});

  // What the readers of json/fields.h collected about `root`: the place is found by the error's field.
  void errors(const std::vector<Error>& errors, const Node& root);

  [[nodiscard]] std::size_t error_count() const { return error_count_; }
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const std::vector<Problem>& problems() const { return problems_; }
  [[nodiscard]] std::vector<Problem> take() { return std::move(problems_); }

  // The place of a byte of the text.
  [[nodiscard]] Position position_of(std::size_t offset);

 private:
  void add(Severity severity, Position at, std::string field, std::string message, std::string cure);
  [[nodiscard]] std::string_view line(std::size_t number);
  void index_lines();

  std::string file_;
  std::string_view text_;
  std::vector<std::size_t> line_starts_;  // filled when the first problem asks for it
  std::vector<Problem> problems_;
  std::unordered_set<std::string> said_;
  std::size_t error_count_ = 0;
};

}  // namespace kron::jobs
