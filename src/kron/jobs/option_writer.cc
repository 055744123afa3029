#include "kron/jobs/option_writer.h"

#include <array>
#include <cstdio>

namespace kron::jobs {

void OptionWriter::text(Key key, const std::string& value, About) { map_.text_unless_empty(key, value); }

void OptionWriter::scalar(Key key, const std::optional<std::string>& value, About) {
  if (value) map_.text(key, *value);
}

void OptionWriter::shell(Key key, const std::string& value, About) {
  if (value == kUsualShell) {
    map_.flag(key, true);
  } else {
    map_.text_unless_empty(key, value);
  }
}

void OptionWriter::environment(Key key, const Environment& value, About) {
  MapWriter variables;
  for (const auto& [name, text] : value) variables.text(name, text);
  map_.map_unless_empty(key, std::move(variables));
}

void OptionWriter::octal(Key key, const std::optional<std::uint32_t>& value, std::uint32_t, About) {
  if (!value) return;
  std::array<char, 16> digits{};
  std::snprintf(digits.data(), digits.size(), "%03o", *value);
  map_.text(key, digits.data());
}

void OptionWriter::number(Key key, const std::optional<std::int32_t>& value, NumberRange, About) {
  if (value) map_.number(key, *value);
}

void OptionWriter::number(Key key, std::uint32_t value, NumberRange, std::uint32_t usual, About) {
  if (value != usual) map_.number(key, value);
}

void OptionWriter::count(Key key, const std::optional<std::uint64_t>& value, About) {
  if (value) map_.number(key, static_cast<std::int64_t>(*value));
}

void OptionWriter::size(Key key, const std::optional<std::uint64_t>& value, About) {
  if (value) map_.text(key, size_text(*value));
}

void OptionWriter::seconds(Key key, Seconds value, Seconds usual, About) {
  if (value != usual) map_.seconds(key, value);
}

void OptionWriter::seconds(Key key, const std::optional<Seconds>& value, About) {
  if (value) map_.seconds(key, *value);
}

void OptionWriter::limits(Key key, const ResourceLimits& value, About) {
  MapWriter limits;
  OptionWriter writer(limits);
  visit_limits(writer, value);
  map_.map_unless_empty(key, std::move(limits));
}

}  // namespace kron::jobs
