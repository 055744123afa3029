#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/jobs/definition.h"
#include "kron/jobs/option_keys.h"

namespace kron::jobs {

// The names of the keys of jobs/option_keys.h, and what the schema of job files says of each.
class OptionSchema {
 public:
  using Key = std::string_view;
  using About = std::string_view;

  void text(Key key, const std::string&, About about) { add(key, about, R"("type": "string")"); }
  void scalar(Key key, const std::optional<std::string>&, About about) {
    add(key, about, R"("$ref": "#/$defs/scalar")");
  }
  void shell(Key key, const std::string&, About about) {
    add(key, about, R"("oneOf": [{"type": "boolean"}, {"type": "string", "pattern": "^/"}])");
  }
  void account(Key key, const std::string&, About about) { add(key, about, R"("type": ["string", "integer"])"); }
  void directory(Key key, const std::string&, About about) {
    add(key, about, R"rules("type": "string", "pattern": "^(/|~$)")rules");
  }
  void output(Key key, const std::string&, About about) {
    add(key, about, R"("type": "string", "pattern": "^(capture|discard|inherit|syslog|(file:)?/.*)$")");
  }
  void environment(Key key, const Environment&, About about) {
    add(key, about,
        R"("oneOf": [{"type": "object", "additionalProperties": {"$ref": "#/$defs/scalar"}}, )"
        R"({"type": "array", "items": {"type": "string", "pattern": "="}}])");
  }
  void octal(Key key, const std::optional<std::uint32_t>&, std::uint32_t, About about) {
    add(key, about, R"("type": ["string", "integer"], "pattern": "^[0-7]+$")");
  }
  void number(Key key, const std::optional<std::int32_t>&, NumberRange range, About about) { add(key, about, range); }
  void number(Key key, std::uint32_t, NumberRange range, std::uint32_t, About about) { add(key, about, range); }
  void count(Key key, const std::optional<std::uint64_t>&, About about) {
    add(key, about, R"("type": "integer", "minimum": 0)");
  }
  void size(Key key, const std::optional<std::uint64_t>&, About about) { add(key, about, R"("$ref": "#/$defs/size")"); }
  void seconds(Key key, Seconds, Seconds, About about) { add(key, about, R"("$ref": "#/$defs/duration")"); }
  void seconds(Key key, const std::optional<Seconds>&, About about) { seconds(key, {}, {}, about); }
  void limits(Key key, const ResourceLimits& value, About about);

  [[nodiscard]] std::vector<std::string_view> names() const { return names_; }
  // Members of "properties", each on a line of its own that begins with `indent`.
  [[nodiscard]] std::string properties(std::string_view indent) const;

 private:
  void add(Key key, About about, std::string_view rules);
  void add(Key key, About about, NumberRange range);

  std::vector<std::string_view> names_;
  std::vector<std::string> members_;
};

// Of all options of a job, and of those below `limits`.
OptionSchema schema_of_options();
OptionSchema schema_of_limits();

}  // namespace kron::jobs
