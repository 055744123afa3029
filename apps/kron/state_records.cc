#include <algorithm>
#include <cstdio>

#include "answer_text.h"
#include "daemon_client.h"
#include "flag_values.h"
#include "kron/json/writer.h"
#include "lines.h"
#include "state_access.h"
#include "state_verbs.h"

namespace kron::cli {
namespace {

constexpr char kVerb[] = "state";

std::string name_in(const Node& record) {
  const std::string identity = text_in(record, "identity");
  return identity.empty() ? "(" + text_in(record, "file") + ")" : identity;
}

std::vector<std::string> row_of(const Node& record, const ScreenTimes& times) {
  const std::string fault = text_in(record, "fault");
  return {name_in(record),
          fault.empty() ? "ok" : fault,
          or_dash(times.at(text_in(record, "lastPeriodId"))),
          or_dash(text_in(record, "lastOutcome")),
          text_in(record, "active"),
          text_in(record, "bytes")};
}

Result<std::vector<Node>> all_records(StateAccess& state) {
  std::vector<Node> records;
  std::string after;
  do {
    const auto body = state.page(after);
    if (!body) return fail(body.error());
    const auto page = parsed_answer(*body);
    if (!page) return fail(page.error());
    std::ranges::copy(list_in(*page, "records"), std::back_inserter(records));
    after = text_in(*page, "next");
  } while (!after.empty());
  return records;
}

void print_record(const Node& answer, const ScreenTimes& times) {
  print_field("job", harmless(text_in(answer, "identity")));
  print_field("file", text_in(answer, "file"));
  print_field("bytes", text_in(answer, "bytes"));
  print_field("fault", text_in(answer, "fault"));
  print_field("reason", harmless(text_in(answer, "reason")));
  print_field("last period", times.at(text_in(answer, "lastPeriodId")));
  print_field("outcome", text_in(answer, "lastOutcome"));
  print_field("chosen", times.near(text_in(answer, "lastChosenTime")));
  print_field("first seen", times.near(text_in(answer, "firstSeen")));
  print_field("active", text_in(answer, "active"));
  print_field("history", text_in(answer, "history"));
  if (!text_in(answer, "fault").empty()) {
    const std::string name = text_in(answer, "identity");
    print_field("cure", "kron state reset " + (name.empty() ? "JOB" : harmless(name)));
  }
}

void print_pruned(const Node& answer) {
  const bool dry_run = flag_in(answer, "dryRun");
  const Node::List& records = list_in(answer, "records");
  for (const Node& record : records) {
    std::printf("%s %s\n", dry_run ? "would remove" : "removed", harmless(name_in(record)).c_str());
  }
  const std::int64_t more = number_in(answer, "count") - static_cast<std::int64_t>(records.size());
  if (more > 0) std::printf("and %lld more\n", static_cast<long long>(more));
  if (records.empty()) std::printf("every job that has a record is configured\n");
  if (dry_run && !records.empty()) std::printf("--yes removes them\n");
}

}  // namespace

int list_records(const DaemonOptions& options) {
  const auto state = StateAccess::open(options);
  if (!state) return refuse(kVerb, state.error(), options.json);
  auto records = all_records(**state);
  if (!records) return refuse(kVerb, records.error(), options.json);
  std::ranges::sort(*records, {}, name_in);
  if (options.json) {
    for (const Node& record : *records) std::printf("%s\n", JsonWriter().node(record).take().c_str());
    return 0;
  }
  Table table({"NAME", "RECORD", "LAST PERIOD", "OUTCOME", "ACTIVE", "BYTES"});
  const ScreenTimes times = screen_times(options.times);
  for (const Node& record : *records) table.add(row_of(record, times));
  table.print();
  return 0;
}

int show_record(const NameOptions& options) {
  const auto state = StateAccess::open(options);
  if (!state) return refuse(kVerb, state.error(), options.json);
  return answered(kVerb, options.json, (*state)->show(options.name),
                  [&](const Node& record) { print_record(record, screen_times(options.times)); });
}

int reset_records(const ResetOptions& options) {
  const auto state = StateAccess::open(options);
  if (!state) return refuse(kVerb, state.error(), options.json);
  const ScreenTimes times = screen_times(options.times);
  int worst = 0;
  for (const std::string& name : options.names) {
    worst =
        std::max(worst, answered(kVerb, options.json, (*state)->reset(name), [&](const Node& answer) {
                   std::printf("reset %s: nothing due before %s runs\n", harmless(text_in(answer, "identity")).c_str(),
                               times.at(text_in(answer, "firstSeen")).c_str());
                 }));
  }
  return worst;
}

int prune_records(const PruneStateOptions& options) {
  const auto state = StateAccess::open(options);
  if (!state) return refuse(kVerb, state.error(), options.json);
  return answered(kVerb, options.json, (*state)->prune(!options.yes, options.config), print_pruned);
}

}  // namespace kron::cli
