#include "kron/api/job_fields.h"

#include <algorithm>
#include <array>

#include "kron/api/call.h"
#include "kron/base/text.h"
#include "kron/history/recent.h"

namespace kron::api {
namespace {

// What a list tells when it is asked for it alone.
constexpr std::string_view kDefinition = "definition";

constexpr std::array<std::string_view, 16> kSummaryMembers{
    "identity",  "schedule", "timezone", "task",    "command", "description", "file",     "line",
    "suspended", "paused",   "next",     "running", "waiting", "last",        "outcomes", "usualSeconds"};

Error no_such_member(std::string_view name) {
  std::string known;
  for (const std::string_view member : kSummaryMembers) known.append(member).append(", ");
  known += kDefinition;
  return {Code::invalid, "the parameter fields: there is no member " + quoted(name, 100) + "; there are " + known,
          "fields"};
}

}  // namespace

JobFields JobFields::all(std::size_t outcomes) {
  JobFields fields;
  fields.wanted_.insert(kSummaryMembers.begin(), kSummaryMembers.end());
  if (outcomes == 0) fields.wanted_.erase("outcomes");
  fields.outcomes_ = outcomes;
  return fields;
}

Result<JobFields> JobFields::in(const http::Request& request) {
  const auto given = request.parameter("fields");
  constexpr auto kMost = static_cast<std::int64_t>(history::kRecent);
  const auto outcomes = number_parameter(request, "outcomes", 0, 0, kMost);
  if (!outcomes) return fail(outcomes.error());
  const auto count = static_cast<std::size_t>(*outcomes);
  if (!given) return all(count);
  JobFields fields;
  fields.wanted_.insert("identity");
  for (std::string_view rest = *given;;) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    const std::string_view name = rest.substr(0, end);
    const bool is_known = name == kDefinition || std::ranges::find(kSummaryMembers, name) != kSummaryMembers.end();
    if (!is_known) return fail(no_such_member(name));
    fields.wanted_.emplace(name);
    if (end == rest.size()) break;
    rest.remove_prefix(end + 1);
  }
  if (count != 0) fields.wanted_.insert("outcomes");
  fields.outcomes_ = fields.has("outcomes") && count == 0 ? history::kRecent : count;
  return fields;
}

}  // namespace kron::api
