#include <algorithm>
#include <array>
#include <map>

#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/core/cron_args.h"
#include "kron/json/fields.h"
#include "kron/json/times.h"
#include "lines.h"
#include "next_times.h"
#include "verbs.h"

namespace kron::cli {
namespace {

constexpr std::array<std::string_view, 8> kKeys{"expr", "tz", "from_utc", "n", "cron_args", "now", "identity", "dst"};

// A key that looks like a misspelt one of ours is a mistake. Others are left alone, so that a file of questions may
// carry their answers or a label beside them.
void reject_misspelt(Fields& fields) {
  for (const Node::Member& member : *fields.node().as<Node::Map>()) {
    const bool known = std::ranges::find(kKeys, member.key) != kKeys.end();
    const std::string_view near = known ? std::string_view() : nearest_word(member.key, kKeys);
    if (!near.empty()) fields.report(member.key, "unknown key; did you mean " + std::string(near) + "?");
  }
}

std::int64_t count_of(Fields& fields) {
  const std::int64_t count = fields.integer("n").value_or(1);
  if (count >= 0 && count <= kMostTimes) return count;
  fields.report("n", "expected a number of times from 0 to " + std::to_string(kMostTimes));
  return 0;
}

std::optional<std::string_view> required_time(Fields& fields, std::string_view key) {
  if (!fields.has(key)) fields.report(key, "a time such as 2026-03-01T00:00:00Z is required");
  return fields.text(key);
}

std::string answer_of(const Schedule& schedule, const TimeZone& zone, Instant from, std::int64_t count) {
  JsonWriter json;
  json.begin_map();
  write_next(json, schedule, zone, from, count);
  return json.end_map().take();
}

// {"expr","tz","from_utc","n"} and optionally `identity` and `dst`: times strictly after from_utc.
Result<std::string> answer_expression(Fields& fields, std::vector<Error>& errors, ZoneDatabase& zones) {
  TimeZone zone;
  Instant from;
  if (const auto name = fields.text("tz"); name && !name->empty()) fields.take(zone, "tz", zones.find(*name));
  if (const auto text = required_time(fields, "from_utc")) fields.take(from, "from_utc", parse_rfc3339(*text));
  const std::int64_t count = count_of(fields);
  const auto expression = fields.text("expr");
  const auto identity = fields.text("identity");
  const auto dst = fields.text("dst");
  if (!errors.empty()) return fail(errors.front());
  Result<Schedule> schedule = parse_schedule(*expression, identity.value_or(""));
  if (!schedule) return fail(schedule.error());
  if (dst) fields.take(schedule->dst, "dst", parse_dst_rule(*dst, schedule->dst));
  if (!errors.empty()) return fail(errors.front());
  return answer_of(*schedule, zone, from, count);
}

std::map<std::string, std::string> texts_of(Fields args) {
  std::map<std::string, std::string> texts;
  for (const Node::Member& member : *args.node().as<Node::Map>()) {
    if (auto text = args.scalar(member.key)) texts.emplace(member.key, *std::move(text));
  }
  return texts;
}

// {"cron_args":{…},"now","n"}: times from now on, now included.
Result<std::string> answer_cron_args(Fields& fields, std::vector<Error>& errors, ZoneDatabase& zones) {
  Instant now;
  const auto text = required_time(fields, "now");
  if (text) fields.take(now, "now", parse_rfc3339(*text));
  const std::int64_t count = count_of(fields);
  const std::optional<Fields> args = fields.map("cron_args");
  const std::map<std::string, std::string> texts = args ? texts_of(*args) : std::map<std::string, std::string>();
  if (!errors.empty()) return fail(errors.front());
  const Result<CronArgs> parsed = parse_cron_args(texts, TimeZone(), zones);
  if (!parsed) return fail(parsed.error());
  const Instant from = has_fraction(*text) ? now : now - Seconds(1);
  return answer_of(parsed->schedule, parsed->zone, from, count);
}

Result<std::string> answer(std::string_view line, ZoneDatabase& zones) {
  const Result<Node> question = parse_json(line);
  if (!question) return fail(question.error());
  if (question->as<Node::Map>() == nullptr) {
    return fail(Code::invalid, "expected a JSON object, found " + std::string(kind_of(*question)), "", 1);
  }
  std::vector<Error> errors;
  Fields fields(*question, "", errors);
  reject_misspelt(fields);
  if (fields.has("cron_args") == fields.has("expr")) {
    fields.report("expr", "expected one of expr and cron_args");
  }
  if (!errors.empty()) return fail(errors.front());
  return fields.has("expr") ? answer_expression(fields, errors, zones) : answer_cron_args(fields, errors, zones);
}

}  // namespace

int next_batch() {
  ZoneDatabase zones;
  return answer_lines([&](std::string_view line) { return answer(line, zones); });
}

}  // namespace kron::cli
