#include "kron/jobs/option_schema.h"

#include <utility>

namespace kron::jobs {

void OptionSchema::add(Key key, About about, std::string_view rules) {
  names_.push_back(key);
  std::string member = "\"" + std::string(key) + R"(": {"description": ")" + std::string(about) + "\", ";
  members_.push_back(std::move(member.append(rules).append("}")));
}

void OptionSchema::add(Key key, About about, NumberRange range) {
  add(key, about,
      R"("type": "integer", "minimum": )" + std::to_string(range.least) + R"(, "maximum": )" +
          std::to_string(range.most));
}

void OptionSchema::limits(Key key, const ResourceLimits&, About about) {
  add(key, about,
      R"("oneOf": [{"type": "string"}, {"type": "object", "additionalProperties": false, "properties": {)" +
          schema_of_limits().properties("          ") + "}}]");
}

void OptionSchema::notify(Key key, const std::optional<AlarmTerms>&, About about) {
  add(key, about,
      R"("oneOf": [{"type": "string"}, {"type": "object", "additionalProperties": false, "properties": {)" +
          schema_of_notify().properties("          ") + "}}]");
}

void OptionSchema::kinds(Key key, const std::vector<AlarmKind>&, About about) {
  std::string words;
  for (const AlarmKind kind : all_alarm_kinds()) {
    words += (words.empty() ? "\"" : ", \"") + std::string(name_of(kind)) + "\"";
  }
  add(key, about, R"("type": "array", "items": {"enum": [)" + words + "]}");
}

void OptionSchema::destinations(Key key, const std::vector<std::string>&, About about) {
  add(key, about,
      R"("oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": )" +
          std::to_string(kMostDestinations) + "}]");
}

std::string OptionSchema::properties(std::string_view indent) const {
  std::string text;
  for (const std::string& member : members_) {
    text.append(text.empty() ? "" : ",").append("\n").append(indent).append(member);
  }
  return text;
}

OptionSchema schema_of_options() {
  OptionSchema schema;
  const RunOptions none;
  visit_options(schema, none);
  return schema;
}

OptionSchema schema_of_limits() {
  OptionSchema schema;
  const ResourceLimits none;
  visit_limits(schema, none);
  return schema;
}

OptionSchema schema_of_notify() {
  OptionSchema schema;
  const AlarmTerms none;
  visit_notify(schema, none);
  return schema;
}

}  // namespace kron::jobs
