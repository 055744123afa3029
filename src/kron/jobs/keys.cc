#include "kron/jobs/keys.h"

#include <vector>

#include "kron/jobs/option_schema.h"
#include "kron/json/job_fields.h"

namespace kron::jobs {
namespace {

using Words = std::vector<std::string_view>;

Words action_keys() {
  Words keys{"name", "command", "task"};
  const Words options = schema_of_options().names();
  keys.insert(keys.end(), options.begin(), options.end());
  return keys;
}

}  // namespace

std::span<const std::string_view> definition_keys() {
  static const Words kKeys = [] {
    Words keys = action_keys();
    keys.insert(keys.end(), kJobKeys.begin(), kJobKeys.end());
    return keys;
  }();
  return kKeys;
}

std::span<const std::string_view> limit_keys() {
  static const Words kKeys = schema_of_limits().names();
  return kKeys;
}

std::span<const std::string_view> notify_keys() {
  static const Words kKeys = schema_of_notify().names();
  return kKeys;
}

std::span<const std::string_view> line_fields() {
  static const Words kFields = [] {
    Words fields = action_keys();
    fields.emplace_back("calendar");
    return fields;
  }();
  return kFields;
}

}  // namespace kron::jobs
