#include "kron/jobs/option_writer.h"

#include <array>
#include <cstdio>
#include <utility>

#include "kron/jobs/option_reader.h"

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

// One as it is, so that a file says what it was given.
void OptionWriter::env_files(Key key, const std::vector<std::string>& value, About) {
  if (value.empty()) return;
  if (value.size() == 1) return map_.text(key, value.front());
  Node::List paths;
  for (const std::string& path : value) paths.emplace_back(path);
  map_.put(key, Node(std::move(paths)));
}

void OptionWriter::flag(Key key, bool value, About) {
  if (value) map_.flag(key, true);
}

void OptionWriter::percent(Key key, const std::optional<std::uint32_t>& value, std::uint32_t, About) {
  if (value) map_.text(key, std::to_string(*value) + "%");
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

void OptionWriter::number(Key key, const std::optional<std::uint32_t>& value, NumberRange, About) {
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

void OptionWriter::seconds(Key key, const std::optional<std::uint32_t>& value, Seconds, About) {
  if (value) map_.seconds(key, Seconds(*value));
}

void OptionWriter::fails_on(Key key, const std::optional<FailsOn>& value, About) {
  if (value) map_.text(key, std::string(name_of(*value)));
}

void OptionWriter::exit_codes(Key key, const std::optional<ExitCodes>& value, About) {
  if (!value) return;
  std::string list;
  for (int code = 0; code <= 255; ++code) {
    if (value->has(code)) list += (list.empty() ? "" : ",") + std::to_string(code);
  }
  map_.text(key, list);
}

void OptionWriter::limits(Key key, const ResourceLimits& value, About) {
  MapWriter limits;
  OptionWriter writer(limits);
  visit_limits(writer, value);
  map_.map_unless_empty(key, std::move(limits));
}

void OptionWriter::pool(Key key, const std::optional<SlotPool>& value, About) {
  if (value) map_.text(key, value->name + (value->slots == 0 ? "" : ":" + std::to_string(value->slots)));
}

void OptionWriter::notify(Key key, const std::optional<AlarmTerms>& value, About) {
  if (!value) return;
  AlarmTerms terms = *value;
  if (terms.on == usual_kinds(terms)) terms.on.clear();
  MapWriter map;
  OptionWriter writer(map);
  visit_notify(writer, std::as_const(terms));
  map_.map_unless_empty(key, std::move(map));
}

void OptionWriter::kinds(Key key, const std::vector<AlarmKind>& value, About) {
  if (value.empty()) return;
  Node::List words;
  for (const AlarmKind kind : value) words.emplace_back(std::string(name_of(kind)));
  map_.put(key, Node(std::move(words)));
}

void OptionWriter::destinations(Key key, const std::vector<std::string>& value, About) {
  Node::List names;
  for (const std::string& name : value) names.emplace_back(name);
  map_.put(key, Node(std::move(names)));
}

}  // namespace kron::jobs
