#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>

#include "answer_text.h"
#include "daemon_client.h"
#include "flag_values.h"
#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/json/writer.h"
#include "lines.h"
#include "operate_verbs.h"

namespace kron::cli {
namespace {

constexpr std::size_t kPage = 1000;

struct Listing {
  std::string key;     // of the page: "jobs"
  std::string cursor;  // the parameter that takes its `next`
  std::vector<std::string> heads;
  std::vector<std::string> (*row)(const Node& item);
};

std::string state_of(const Node& job) {
  if (number_in(job, "running") > 0) return text_in(job, "running") + " running";
  if (const Node* paused = job.find("paused"); paused != nullptr && !paused->is_null()) {
    const std::string until = text_in(*paused, "until");
    return until.empty() ? "paused" : "paused until " + until;
  }
  return flag_in(job, "suspended") ? "suspended" : "idle";
}

constexpr std::size_t kMostResult = 60;  // bytes of a cell; `kron show` has all of it

// A long one would push the columns behind it out of sight.
std::string short_result(const Node& run) {
  std::string result = result_of(run);
  if (result.size() <= kMostResult) return result;
  std::size_t size = kMostResult - 3;
  while (size > 0 && (static_cast<unsigned char>(result[size]) & 0xC0U) == 0x80U) --size;
  return result.substr(0, size) + "...";
}

std::vector<std::string> job_row(const Node& job) {
  const Node* next = job.find("next");
  const Node* last = job.find("last");
  return {text_in(job, "identity"), text_in(job, "schedule"), state_of(job),
          next == nullptr || next->is_null() ? "-" : text_in(*next, "startsAt"),
          last == nullptr || last->is_null() ? "-" : short_result(*last) + " " + time_of(*last)};
}

std::vector<std::string> run_row(const Node& run) {
  return {text_in(run, "number"), time_of(run),      or_dash(duration_of(run)), or_dash(text_in(run, "periodId")),
          text_in(run, "job"),    short_result(run), text_in(run, "runId")};
}

// Of a cluster each tells its host.
std::vector<std::string> run_row_with_host(const Node& run) {
  std::vector<std::string> row = run_row(run);
  row.insert(row.end() - 2, or_dash(text_in(run, "host")));
  return row;
}

enum class Form : std::uint8_t { table, names, json };

void print_items(const Listing& listing, const Node::List& items, Form form) {
  if (form == Form::names) {
    for (const Node& item : items) std::printf("%s\n", harmless(text_in(item, "identity")).c_str());
    return;
  }
  if (form == Form::json) {
    for (const Node& item : items) std::printf("%s\n", JsonWriter().node(item).take().c_str());
    return;
  }
  const bool has_hosts = listing.key == "runs" &&
                         std::ranges::any_of(items, [](const Node& item) { return !text_in(item, "host").empty(); });
  std::vector<std::string> heads = listing.heads;
  if (has_hosts) heads.insert(heads.end() - 2, "HOST");
  Table table(std::move(heads));
  for (const Node& item : items) table.add(has_hosts ? run_row_with_host(item) : listing.row(item));
  table.print();
}

struct Printed {
  std::size_t count = 0;
  std::string next = {};  // the cursor of what is left, if anything is
};

// Page after page up to the limit.
Result<Printed> print_pages(DaemonClient& client, const Listing& listing, const Target& target, std::string next,
                            std::size_t limit, Form form) {
  std::size_t count = 0;
  for (std::size_t left = limit; left > 0;) {
    Target page = target;
    page.parameter(listing.cursor, next).parameter("limit", std::to_string(std::min(left, kPage)));
    const auto body = client.get(page);
    if (!body) return fail(body.error());
    const auto answer = parsed_answer(*body);
    if (!answer) return fail(answer.error());
    const Node::List& items = list_in(*answer, listing.key);
    if (!items.empty()) print_items(listing, items, form);
    count += items.size();
    next = text_in(*answer, "next");
    if (next.empty()) break;
    left -= std::min(left, items.size());
  }
  return Printed{count, next};
}

// As the API wants it; empty stays empty.
Result<std::string> time_parameter(const std::string& text, std::string_view flag) {
  if (text.empty()) return text;
  const auto time = time_flag(text, flag);
  if (!time) return fail(time.error());
  return rfc3339(*time);
}

// A name that is misspelt looks like a job that has never run.
Status check_job(DaemonClient& client, const std::string& name) {
  const auto job = client.get(Target("jobs").segment(name));
  if (job || job.error().code != Code::not_found) return {};
  return fail(Code::not_found,
              "there is no job " + quoted(name, 200) + ", and no run of such a job is remembered; see `kron jobs`");
}

}  // namespace

int list_jobs(const JobsOptions& options) {
  auto client = DaemonClient::open(options);
  if (!client) return refuse("jobs", client.error(), options.json);
  const Listing listing{"jobs", "after", {"NAME", "SCHEDULE", "STATE", "NEXT", "LAST"}, job_row};
  Target target("jobs");
  target.parameter("prefix", options.prefix).parameter("match", options.match).parameter("state", options.state);
  const std::size_t limit = options.all ? std::numeric_limits<std::size_t>::max() : options.limit;
  const Form form = options.json ? Form::json : options.only_names ? Form::names : Form::table;
  const auto printed = print_pages(*client, listing, target, "", limit, form);
  if (!printed) return refuse("jobs", printed.error(), options.json);
  if (printed->count == 0 && form == Form::table) std::printf("no jobs\n");
  if (!printed->next.empty()) std::fprintf(stderr, "kron jobs: there are more: --all, or a higher --limit\n");
  return 0;
}

int list_runs(const RunsOptions& options) {
  const auto from = time_parameter(options.from, "--from");
  if (!from) return refuse("runs", from.error(), options.json);
  const auto to = time_parameter(options.to, "--to");
  if (!to) return refuse("runs", to.error(), options.json);
  auto client = DaemonClient::open(options);
  if (!client) return refuse("runs", client.error(), options.json);
  const Listing listing{"runs", "before", {"NUMBER", "TIME", "DURATION", "PERIOD", "JOB", "RESULT", "RUN"}, run_row};
  Target target("runs");
  target.parameter("job", options.job).parameter("prefix", options.prefix).parameter("outcome", options.outcome);
  target.parameter("result", options.result).parameter("from", *from).parameter("to", *to);
  const Form form = options.json ? Form::json : Form::table;
  const auto printed = print_pages(*client, listing, target, options.before, options.limit, form);
  if (!printed) return refuse("runs", printed.error(), options.json);
  if (printed->count == 0 && !options.job.empty()) {
    if (const Status known = check_job(*client, options.job); !known)
      return refuse("runs", known.error(), options.json);
  }
  if (printed->count == 0 && form == Form::table) std::printf("no runs\n");
  if (!printed->next.empty()) {
    std::fprintf(stderr, "kron runs: there are older ones: --before %s\n", printed->next.c_str());
  }
  return 0;
}

}  // namespace kron::cli
