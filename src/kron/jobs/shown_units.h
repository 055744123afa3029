#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kron/base/instant.h"
#include "kron/json/document.h"

namespace kron::jobs {

// A line `Name=value` of `systemctl show`.
struct ShownProperty {
  std::string name;
  std::string value;  // without blanks at its ends
  Position at;
};

// What `systemctl show` says of one unit, in its order. Absent and empty are the same there.
class ShownUnit {
 public:
  void add(ShownProperty property) { properties_.push_back(std::move(property)); }
  // Another line of the value that was added last: systemctl does not mask line breaks.
  void go_on(std::string_view line);

  [[nodiscard]] const ShownProperty* find(std::string_view name) const;
  [[nodiscard]] std::string_view text(std::string_view name) const;  // empty when absent
  [[nodiscard]] std::vector<const ShownProperty*> all(std::string_view name) const;
  [[nodiscard]] bool is_empty() const { return properties_.empty(); }
  [[nodiscard]] Position position() const { return properties_.empty() ? Position{} : properties_.front().at; }

 private:
  std::vector<ShownProperty> properties_;
};

// The units of a text, which empty lines divide. Every text is one; what is no unit has no Id.
std::vector<ShownUnit> shown_units(std::string_view text);

// Of `{ path=/x ; argv[]=/x a b ; ignore_errors=no ; … }`: the words of the command, joined by blanks as systemctl
// does. Nothing when it has another shape.
std::optional<std::string> shown_command(std::string_view value);

// Of `{ OnCalendar=daily ; next_elapse=… }`: OnCalendar and daily.
std::optional<std::pair<std::string, std::string>> shown_trigger(std::string_view value);

// `A=1 "B=two words" $'C=it\'s'` as assignments; nothing when one is not understood or was not printed.
std::optional<std::vector<std::pair<std::string, std::string>>> shown_environment(std::string_view value);

// `1h 40min`, `2w`, `500ms`, as systemd prints a span of time; nothing for `infinity` and for what is none.
std::optional<Nanoseconds> shown_span(std::string_view text);

}  // namespace kron::jobs
