#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kron/jobs/definition.h"
#include "kron/jobs/map_writer.h"
#include "kron/jobs/option_keys.h"

namespace kron::jobs {

// Writes one value of a definition, by its kind, as OptionReader reads it (jobs/option_keys.h). What is as it would be
// without the key is left out.
class OptionWriter {
 public:
  using Key = std::string_view;
  using About = std::string_view;

  explicit OptionWriter(MapWriter& map) : map_(map) {}

  void text(Key key, const std::string& value, About);
  void scalar(Key key, const std::optional<std::string>& value, About);
  void shell(Key key, const std::string& value, About);
  void account(Key key, const std::string& value, About about) { text(key, value, about); }
  void directory(Key key, const std::string& value, About about) { text(key, value, about); }
  void output(Key key, const std::string& value, About about) { text(key, value, about); }
  void environment(Key key, const Environment& value, About);
  void env_files(Key key, const std::vector<std::string>& value, About);
  void credentials(Key key, const Environment& value, About about) { environment(key, value, about); }
  void flag(Key key, bool value, About);
  void percent(Key key, const std::optional<std::uint32_t>& value, std::uint32_t most, About);
  void octal(Key key, const std::optional<std::uint32_t>& value, std::uint32_t most, About);
  void number(Key key, const std::optional<std::int32_t>& value, NumberRange range, About);
  void number(Key key, const std::optional<std::uint32_t>& value, NumberRange range, About);
  void number(Key key, std::uint32_t value, NumberRange range, std::uint32_t usual, About);
  void count(Key key, const std::optional<std::uint64_t>& value, About);
  void size(Key key, const std::optional<std::uint64_t>& value, About);
  void seconds(Key key, Seconds value, Seconds usual, About);
  void seconds(Key key, const std::optional<Seconds>& value, About);
  void seconds(Key key, const std::optional<std::uint32_t>& value, Seconds most, About);
  void fails_on(Key key, const std::optional<FailsOn>& value, About);
  void exit_codes(Key key, const std::optional<ExitCodes>& value, About);
  void limits(Key key, const ResourceLimits& value, About);
  void pool(Key key, const std::optional<SlotPool>& value, About);
  void notify(Key key, const std::optional<AlarmTerms>& value, About);
  void ping(Key key, const std::string& value, About about) { text(key, value, about); }
  void kinds(Key key, const std::vector<AlarmKind>& value, About);
  void pause(Key key, const std::optional<Seconds>& value, About about) { seconds(key, value, about); }
  void destinations(Key key, const std::vector<std::string>& value, About);

 private:
  MapWriter& map_;
};

}  // namespace kron::jobs
