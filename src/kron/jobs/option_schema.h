#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/jobs/definition.h"
#include "kron/jobs/option_keys.h"
#include "kron/jobs/ping_url.h"

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
  void env_files(Key key, const std::vector<std::string>&, About about) {
    add(key, about,
        R"("oneOf": [{"type": "string", "pattern": "^/"}, {"type": "array", "items": {"type": "string", )"
        R"("pattern": "^/"}, "minItems": 1, "maxItems": )" +
            std::to_string(kMostEnvFiles) + "}]");
  }
  void credentials(Key key, const Environment&, About about) {
    add(key, about,
        R"rules("oneOf": [{"type": "object", "propertyNames": {"pattern": "^[A-Za-z0-9_-][A-Za-z0-9._-]*$"}, )rules"
        R"rules("additionalProperties": {"type": "string", "pattern": "^/"}}, {"type": "array", "items": )rules"
        R"rules({"type": "string", "pattern": "^[A-Za-z0-9_-][A-Za-z0-9._-]*=/"}}])rules");
  }
  void flag(Key key, bool, About about) { add(key, about, R"("type": "boolean")"); }
  void percent(Key key, const std::optional<std::uint32_t>&, std::uint32_t, About about) {
    add(key, about, R"("type": "string", "pattern": "^[0-9]+%$")");
  }
  void octal(Key key, const std::optional<std::uint32_t>&, std::uint32_t, About about) {
    add(key, about, R"("type": ["string", "integer"], "pattern": "^[0-7]+$")");
  }
  void number(Key key, const std::optional<std::int32_t>&, NumberRange range, About about) { add(key, about, range); }
  void number(Key key, const std::optional<std::uint32_t>&, NumberRange range, About about) { add(key, about, range); }
  void number(Key key, std::uint32_t, NumberRange range, std::uint32_t, About about) { add(key, about, range); }
  void count(Key key, const std::optional<std::uint64_t>&, About about) {
    add(key, about, R"("type": "integer", "minimum": 0)");
  }
  void size(Key key, const std::optional<std::uint64_t>&, About about) { add(key, about, R"("$ref": "#/$defs/size")"); }
  void seconds(Key key, Seconds, Seconds, About about) { add_duration(key, about); }
  void seconds(Key key, const std::optional<Seconds>&, About about) { add_duration(key, about); }
  void seconds(Key key, const std::optional<std::uint32_t>&, Seconds, About about) { add_duration(key, about); }
  void fails_on(Key key, const std::optional<FailsOn>&, About about) {
    add(key, about, R"("enum": ["exit", "stderr", "nothing"])");
  }
  void exit_codes(Key key, const std::optional<ExitCodes>&, About about) {
    add(key, about,
        R"rules("oneOf": [{"type": "integer", "minimum": 0, "maximum": 255}, {"type": "string", "pattern": )rules"
        R"rules("^ *[0-9]{1,3} *(, *[0-9]{1,3} *)*$"}, {"type": "array", "items": {"type": "integer", )rules"
        R"rules("minimum": 0, "maximum": 255}, "minItems": 1}])rules");
  }
  void limits(Key key, const ResourceLimits& value, About about);
  void pool(Key key, const std::optional<SlotPool>&, About about) {
    add(key, about, R"rules("type": "string", "pattern": "^[a-z0-9]([a-z0-9._/-]*[a-z0-9])?(:[0-9]+)?$")rules");
  }
  void notify(Key key, const std::optional<AlarmTerms>& value, About about);
  void ping(Key key, const std::string&, About about) {
    add(key, about,
        R"rules("type": "string", "pattern": "^https?://[^/?#@]+/[^?#]*[^/?#]/*$", "maxLength": )rules" +
            std::to_string(kMostPingUrl));
  }
  void kinds(Key key, const std::vector<AlarmKind>&, About about);
  void pause(Key key, const std::optional<Seconds>&, About about) { add_duration(key, about); }
  void destinations(Key key, const std::vector<std::string>&, About about);

  [[nodiscard]] std::vector<std::string_view> names() const { return names_; }
  // Members of "properties", each on a line of its own that begins with `indent`.
  [[nodiscard]] std::string properties(std::string_view indent) const;

 private:
  void add(Key key, About about, std::string_view rules);
  void add(Key key, About about, NumberRange range);
  void add_duration(Key key, About about) { add(key, about, R"("$ref": "#/$defs/duration")"); }

  std::vector<std::string_view> names_;
  std::vector<std::string> members_;
};

// Of all options of a job, and of those below `limits` and `notify`.
OptionSchema schema_of_options();
OptionSchema schema_of_limits();
OptionSchema schema_of_notify();

}  // namespace kron::jobs
