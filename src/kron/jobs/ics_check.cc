#include "kron/jobs/ics_check.h"

#include <vector>

#include "kron/base/text.h"

namespace kron::jobs {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

struct Open {
  std::string name;
  std::size_t line;
};

tl::unexpected<Error> at_line(std::size_t line, const std::string& what) {
  return fail(Code::invalid, "line " + std::to_string(line) + ": " + what);
}

// The components that a text opens and closes.
class Nesting {
 public:
  Status see(std::string_view line, std::size_t number) {
    const std::size_t colon = line.find(':');
    const std::string_view name = line.substr(0, colon);
    const std::string value = colon == std::string_view::npos ? "" : std::string(trimmed(line.substr(colon + 1)));
    if (equals_ignoring_case(name, "BEGIN")) return begin(value, number);
    if (equals_ignoring_case(name, "END")) return end(value, number);
    if (open_.empty()) return at_line(number, "it is no calendar: BEGIN:VCALENDAR was expected");
    return {};
  }

  Status finish() const {
    if (!open_.empty()) {
      return at_line(open_.back().line, "BEGIN:" + open_.back().name + " has no END: the file was cut off");
    }
    if (!has_any_) return fail(Code::invalid, "it is no calendar: it is empty");
    return {};
  }

 private:
  Status begin(const std::string& name, std::size_t number) {
    if (open_.empty() && !equals_ignoring_case(name, "VCALENDAR")) {
      return at_line(number, "it is no calendar: BEGIN:VCALENDAR was expected");
    }
    if (open_.size() >= kMostIcsDepth) {
      return at_line(number, "more than " + std::to_string(kMostIcsDepth) + " components inside each other");
    }
    if (equals_ignoring_case(name, "VEVENT") && ++events_ > kMostIcsEvents) {
      return at_line(number, "more than " + std::to_string(kMostIcsEvents) + " events");
    }
    open_.push_back({quoted_name(name), number});
    has_any_ = true;
    return {};
  }

  Status end(const std::string& name, std::size_t number) {
    const std::string shown = quoted_name(name);
    if (open_.empty()) return at_line(number, "END:" + shown + " where nothing was begun");
    if (!equals_ignoring_case(open_.back().name, shown)) {
      return at_line(number, "END:" + shown + " where END:" + open_.back().name + " was expected, of line " +
                                 std::to_string(open_.back().line));
    }
    open_.pop_back();
    return {};
  }

  // As a message shows it: whatever file was named, little of it is repeated.
  static std::string quoted_name(const std::string& name) {
    std::string shown = quoted(name, 20);
    return shown.substr(1, shown.size() - 2);
  }

  std::vector<Open> open_;
  std::size_t events_ = 0;
  bool has_any_ = false;
};

bool is_fold(std::string_view text) { return text.starts_with(' ') || text.starts_with('\t'); }

}  // namespace

Result<std::string> checked_ics(std::string_view text) {
  if (text.size() > kMostIcsBytes) {
    return fail(Code::invalid, "larger than " + std::to_string(kMostIcsBytes >> 10) + " KiB");
  }
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (text.find('\0') != std::string_view::npos) return fail(Code::invalid, "it is no calendar: it has a NUL byte");
  std::string unfolded;
  unfolded.reserve(text.size() + 2);
  Nesting nesting;
  for (std::size_t number = 1; !text.empty();) {
    const std::size_t began_at = number;
    std::string line;
    do {
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view part = text.substr(0, end);
      if (part.ends_with('\r')) part.remove_suffix(1);
      if (number > began_at) part.remove_prefix(1);
      line += part;
      text.remove_prefix(std::min(end + 1, text.size()));
      ++number;
    } while (is_fold(text));
    if (trimmed(line).empty()) continue;
    if (Status seen = nesting.see(line, began_at); !seen) return fail(seen.error());
    unfolded += line + "\r\n";
  }
  if (Status done = nesting.finish(); !done) return fail(done.error());
  return unfolded;
}

}  // namespace kron::jobs
