#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <iterator>
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
constexpr std::size_t kMostSortedOut = 200'000;  // jobs; some 300 MB

struct Listing {
  std::string key;     // of the page: "jobs"
  std::string cursor;  // the parameter that takes its `next`
  std::vector<std::string> heads;
  std::vector<std::string> (*row)(const Node& item, const ScreenTimes& times);
};

constexpr std::size_t kMostInCell = 60;  // bytes; `kron show` has all of it

// A long one would push the columns behind it out of sight.
std::string shortened(std::string text) {
  if (text.size() <= kMostInCell) return text;
  std::size_t size = kMostInCell - 3;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) --size;
  return text.substr(0, size) + "...";
}

std::string state_of(const Node& job, const ScreenTimes& times) {
  if (number_in(job, "running") > 0) return text_in(job, "running") + " running";
  if (const Node* paused = job.find("paused"); paused != nullptr && !paused->is_null()) {
    const std::string until = text_in(*paused, "until");
    const std::string by = text_in(*paused, "by");
    const std::string note = text_in(*paused, "note");
    return shortened((until.empty() ? "paused" : "paused until " + times.at(until)) + (by.empty() ? "" : " by " + by) +
                     (note.empty() ? "" : ": " + note));
  }
  if (const Node* waiting = job.find("waiting")) return shortened("waits for " + awaited_by(*waiting));
  return flag_in(job, "suspended") ? "suspended" : "idle";
}

std::string short_result(const Node& run) { return shortened(result_of(run)); }

std::vector<std::string> job_row(const Node& job, const ScreenTimes& times) {
  const Node* next = job.find("next");
  const Node* last = job.find("last");
  return {text_in(job, "identity"), text_in(job, "schedule"), state_of(job, times),
          next == nullptr || next->is_null() ? "-" : times.near(text_in(*next, "startsAt")),
          last == nullptr || last->is_null() ? "-" : short_result(*last) + " " + times.near(time_of(*last))};
}

std::vector<std::string> run_row(const Node& run, const ScreenTimes& times) {
  return {text_in(run, "number"),    times.near(time_of(run)),
          or_dash(duration_of(run)), or_dash(times.at(text_in(run, "periodId"))),
          text_in(run, "job"),       short_result(run),
          text_in(run, "runId")};
}

// Of a cluster each tells its host.
std::vector<std::string> run_row_with_host(const Node& run, const ScreenTimes& times) {
  std::vector<std::string> row = run_row(run, times);
  row.insert(row.end() - 2, or_dash(text_in(run, "host")));
  return row;
}

enum class Form : std::uint8_t { table, names, json };

void print_items(const Listing& listing, const Node::List& items, Form form, const ScreenTimes& times) {
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
  for (const Node& item : items) table.add(has_hosts ? run_row_with_host(item, times) : listing.row(item, times));
  table.print();
}

struct Printed {
  std::size_t count = 0;
  std::string next = {};  // the cursor of what is left, if anything is
};

// Page after page up to the limit.
Result<Printed> print_pages(DaemonClient& client, const Listing& listing, const Target& target, std::string next,
                            std::size_t limit, Form form, const ScreenTimes& times) {
  std::size_t count = 0;
  for (std::size_t left = limit; left > 0;) {
    Target page = target;
    page.parameter(listing.cursor, next).parameter("limit", std::to_string(std::min(left, kPage)));
    const auto body = client.get(page);
    if (!body) return fail(body.error());
    const auto answer = parsed_answer(*body);
    if (!answer) return fail(answer.error());
    const Node::List& items = list_in(*answer, listing.key);
    if (!items.empty()) print_items(listing, items, form, times);
    count += items.size();
    next = text_in(*answer, "next");
    if (next.empty()) break;
    left -= std::min(left, items.size());
  }
  return Printed{count, next};
}

// What krond cannot sort or choose by: all that may be wanted is read, and then sorted out here.
bool is_of_krond(std::string_view state) {
  constexpr std::array<std::string_view, 4> kOfKrond{"running", "paused", "suspended", "idle"};
  return state.empty() || std::ranges::find(kOfKrond, state) != kOfKrond.end();
}
bool is_sorted_out_here(const JobsOptions& options) { return !is_of_krond(options.state) || !options.sort.empty(); }

Result<Node::List> all_jobs(DaemonClient& client, const Target& target) {
  Node::List jobs;
  std::string next;
  do {
    Target page = target;
    page.parameter("after", next).parameter("limit", std::to_string(kPage));
    const auto body = client.get(page);
    if (!body) return fail(body.error());
    const auto answer = parsed_answer(*body);
    if (!answer) return fail(answer.error());
    std::ranges::copy(list_in(*answer, "jobs"), std::back_inserter(jobs));
    if (jobs.size() > kMostSortedOut) {
      return fail(Code::invalid, "these are more than " + std::to_string(kMostSortedOut) +
                                     " jobs, too many to sort; choose by --prefix or --match");
    }
    next = text_in(*answer, "next");
  } while (!next.empty());
  return jobs;
}

// How the last run or period of a job ended, in the words of --state.
std::string end_of(const Node& job) {
  const Node* last = job.find("last");
  if (last == nullptr || last->is_null()) return "";
  const std::string outcome = text_in(*last, "outcome");
  if (outcome != "executed") return outcome;
  return text_in(*last, "state") != "running" && has_failed(*last) ? "failed" : "";
}

// What jobs are sorted by: a rank, of which the highest is first. 0: it has none, and is last.
std::int64_t rank_of(const Node& job, std::string_view sort) {
  const auto seconds_of = [](const Node* part, std::string_view key) -> std::int64_t {
    const auto time = part == nullptr || part->is_null() ? fail(Code::invalid, "") : parse_rfc3339(text_in(*part, key));
    return time ? epoch_seconds(*time) : 0;
  };
  const Node* last = job.find("last");
  if (sort == "next") {
    const std::int64_t at = seconds_of(job.find("next"), "startsAt");
    return at == 0 ? 0 : epoch_seconds(kLastInstant) + 2 - at;
  }
  if (last == nullptr || last->is_null()) return 0;
  if (sort == "last") {
    const auto time = parse_rfc3339(time_of(*last));
    return time ? epoch_seconds(*time) : 0;
  }
  const std::int64_t start = seconds_of(last, "startedAt");
  const std::int64_t end = seconds_of(last, "endedAt");
  return start == 0 || end < start ? 0 : end - start + 1;
}

void sort_jobs(Node::List& jobs, const std::string& sort) {
  if (sort.empty()) return;
  std::vector<std::pair<std::int64_t, std::string>> keys;
  std::vector<std::size_t> order;
  for (const Node& job : jobs) {
    order.push_back(keys.size());
    keys.emplace_back(sort == "name" ? 0 : -rank_of(job, sort), text_in(job, "identity"));
  }
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  Node::List sorted;
  sorted.reserve(jobs.size());
  for (const std::size_t i : order) sorted.push_back(std::move(jobs[i]));
  jobs = std::move(sorted);
}

Result<Printed> print_sorted_out(DaemonClient& client, const Listing& listing, const Target& target,
                                 const JobsOptions& options, std::size_t limit, Form form) {
  auto jobs = all_jobs(client, target);
  if (!jobs) return fail(jobs.error());
  if (!is_of_krond(options.state)) {
    std::erase_if(*jobs, [&](const Node& job) { return end_of(job) != options.state; });
  }
  sort_jobs(*jobs, options.sort);
  const bool are_more = jobs->size() > limit;
  if (are_more) jobs->erase(jobs->begin() + static_cast<std::ptrdiff_t>(limit), jobs->end());
  if (!jobs->empty()) print_items(listing, *jobs, form, screen_times(options.times));
  return Printed{jobs->size(), are_more ? "more" : ""};
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
  target.parameter("prefix", options.prefix).parameter("match", options.match);
  const std::size_t limit = options.all ? std::numeric_limits<std::size_t>::max() : options.limit;
  const Form form = options.json ? Form::json : options.only_names ? Form::names : Form::table;
  if (is_of_krond(options.state)) target.parameter("state", options.state);
  const auto printed = is_sorted_out_here(options)
                           ? print_sorted_out(*client, listing, target, options, limit, form)
                           : print_pages(*client, listing, target, "", limit, form, screen_times(options.times));
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
  const auto printed =
      print_pages(*client, listing, target, options.before, options.limit, form, screen_times(options.times));
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
