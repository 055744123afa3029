#include <algorithm>
#include <cstdio>
#include <limits>

#include "answer_text.h"
#include "daemon_client.h"
#include "flag_values.h"
#include "kron/base/rfc3339.h"
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

std::vector<std::string> job_row(const Node& job) {
  const Node* next = job.find("next");
  const Node* last = job.find("last");
  return {text_in(job, "identity"), text_in(job, "schedule"), state_of(job),
          next == nullptr || next->is_null() ? "-" : text_in(*next, "chosenTime"),
          last == nullptr || last->is_null() ? "-" : result_of(*last) + " " + time_of(*last)};
}

std::vector<std::string> run_row(const Node& run) {
  return {text_in(run, "number"), time_of(run), text_in(run, "job"), result_of(run), text_in(run, "runId")};
}

void print_items(const Listing& listing, const Node::List& items, bool json) {
  if (json) {
    for (const Node& item : items) std::printf("%s\n", JsonWriter().node(item).take().c_str());
    return;
  }
  Table table(listing.heads);
  for (const Node& item : items) table.add(listing.row(item));
  table.print();
}

// Page after page up to the limit; the cursor of what is left, if anything is.
Result<std::string> print_pages(DaemonClient& client, const Listing& listing, const Target& target, std::string next,
                                std::size_t limit, bool json) {
  for (std::size_t left = limit; left > 0;) {
    Target page = target;
    page.parameter(listing.cursor, next).parameter("limit", std::to_string(std::min(left, kPage)));
    const auto body = client.get(page);
    if (!body) return fail(body.error());
    const auto answer = parsed_answer(*body);
    if (!answer) return fail(answer.error());
    const Node::List& items = list_in(*answer, listing.key);
    if (!items.empty()) print_items(listing, items, json);
    next = text_in(*answer, "next");
    if (next.empty()) return next;
    left -= std::min(left, items.size());
  }
  return next;
}

// As the API wants it; empty stays empty.
Result<std::string> time_parameter(const std::string& text, std::string_view flag) {
  if (text.empty()) return text;
  const auto time = time_flag(text, flag);
  if (!time) return fail(time.error());
  return rfc3339(*time);
}

}  // namespace

int list_jobs(const JobsOptions& options) {
  auto client = DaemonClient::open(options);
  if (!client) return refuse("jobs", client.error(), options.json);
  const Listing listing{"jobs", "after", {"NAME", "SCHEDULE", "STATE", "NEXT", "LAST"}, job_row};
  Target target("jobs");
  target.parameter("prefix", options.prefix).parameter("match", options.match).parameter("state", options.state);
  const std::size_t limit = options.all ? std::numeric_limits<std::size_t>::max() : options.limit;
  const auto rest = print_pages(*client, listing, target, "", limit, options.json);
  if (!rest) return refuse("jobs", rest.error(), options.json);
  if (!rest->empty()) std::fprintf(stderr, "kron jobs: there are more: --all, or a higher --limit\n");
  return 0;
}

int list_runs(const RunsOptions& options) {
  const auto from = time_parameter(options.from, "--from");
  if (!from) return refuse("runs", from.error(), options.json);
  const auto to = time_parameter(options.to, "--to");
  if (!to) return refuse("runs", to.error(), options.json);
  auto client = DaemonClient::open(options);
  if (!client) return refuse("runs", client.error(), options.json);
  const Listing listing{"runs", "before", {"NUMBER", "TIME", "JOB", "RESULT", "RUN"}, run_row};
  Target target("runs");
  target.parameter("job", options.job).parameter("prefix", options.prefix).parameter("outcome", options.outcome);
  target.parameter("result", options.result).parameter("from", *from).parameter("to", *to);
  const auto rest = print_pages(*client, listing, target, options.before, options.limit, options.json);
  if (!rest) return refuse("runs", rest.error(), options.json);
  if (!rest->empty()) std::fprintf(stderr, "kron runs: there are older ones: --before %s\n", rest->c_str());
  return 0;
}

}  // namespace kron::cli
