#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/jobs/definition.h"
#include "kron/jobs/option_keys.h"
#include "kron/json/fields.h"

namespace kron::jobs {

// Reads one value of a definition, by its kind. What is absent leaves the target as it is; what is wrong is collected
// by `fields`. The last arguments are for the other visitors of jobs/option_keys.h.
class OptionReader {
 public:
  using Key = std::string_view;
  using About = std::string_view;

  explicit OptionReader(Fields fields) : fields_(std::move(fields)) {}

  // A scalar of any kind as text: `true` is a fine value of an environment variable.
  std::optional<std::string> word(Key key);

  void text(Key key, std::string& target, About = {});
  void scalar(Key key, std::optional<std::string>& target, About = {});
  void shell(Key key, std::string& target, About = {});
  void account(Key key, std::string& target, About = {});
  void directory(Key key, std::string& target, About = {});
  void output(Key key, std::string& target, About = {});
  void environment(Key key, Environment& target, About = {});
  void env_files(Key key, std::vector<std::string>& target, About = {});
  void credentials(Key key, Environment& target, About = {});
  void flag(Key key, bool& target, About = {});
  void percent(Key key, std::optional<std::uint32_t>& target, std::uint32_t most, About = {});
  void octal(Key key, std::optional<std::uint32_t>& target, std::uint32_t most, About = {});
  void number(Key key, std::optional<std::int32_t>& target, NumberRange range, About = {});
  void number(Key key, std::optional<std::uint32_t>& target, NumberRange range, About = {});
  void number(Key key, std::uint32_t& target, NumberRange range, std::uint32_t usual, About = {});
  void count(Key key, std::optional<std::uint64_t>& target, About = {});
  void size(Key key, std::optional<std::uint64_t>& target, About = {});
  void seconds(Key key, Seconds& target, Seconds usual = {}, About = {});
  void seconds(Key key, std::optional<Seconds>& target, About = {});
  void seconds(Key key, std::optional<std::uint32_t>& target, Seconds most, About = {});
  void fails_on(Key key, std::optional<FailsOn>& target, About = {});
  void exit_codes(Key key, std::optional<ExitCodes>& target, About = {});
  void limits(Key key, ResourceLimits& target, About = {});
  void pool(Key key, std::optional<SlotPool>& target, About = {});
  void notify(Key key, std::optional<AlarmTerms>& target, About = {});
  void ping(Key key, std::string& target, About = {});
  void kinds(Key key, std::vector<AlarmKind>& target, About = {});
  void pause(Key key, std::optional<Seconds>& target, About = {});
  void destinations(Key key, std::vector<std::string>& target, About = {});

 private:
  std::optional<std::int64_t> number_in(Key key, NumberRange range);
  void in_map(Key key, std::string_view what, std::string_view example, const std::function<void(const Fields&)>& read);
  Node one_line_map(Key key, const std::string& list, std::string_view what, std::string_view example);
  std::vector<std::string> words_in(Key key);
  void add_credential(Key key, Environment& target, std::string name, std::string path);
  void add_variable(Key key, Environment& target, std::string name, std::string value);

  Fields fields_;
};

bool has_control_character(std::string_view text);

// What is told of where `on` is absent.
std::vector<AlarmKind> usual_kinds(const AlarmTerms& terms);

}  // namespace kron::jobs
