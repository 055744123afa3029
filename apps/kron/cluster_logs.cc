#include <algorithm>
#include <cstdio>
#include <poll.h>
#include <unistd.h>

#include "answer_text.h"
#include "cluster_read.h"
#include "cluster_verbs.h"
#include "kron/base/text.h"
#include "kron/cluster/output_lines.h"
#include "kron/json/writer.h"
#include "lines.h"

namespace kron::cli {
namespace {

constexpr std::size_t kLinesAtOnce = 500;  // lines
constexpr int kFollowMilliseconds = 500;
constexpr std::size_t kMostActiveRead = 100'000;

Result<ClusterRun> newest_run_of(ClusterSession& session, const std::string& job) {
  const auto active = read_newest(session, session.keys().active(), kMostActiveRead);
  if (!active) return fail(active.error());
  const auto running = read_runs(session, *active);
  if (!running) return fail(running.error());
  std::optional<ClusterRun> newest;
  const auto consider = [&](const std::vector<ClusterRun>& runs) {
    for (const ClusterRun& run : runs) {
      if (run.job == job && (!newest || run.started > newest->started)) newest = run;
    }
  };
  consider(*running);
  if (newest) return *newest;
  for (const char* status : {"success", "fail"}) {
    const auto ids = read_newest(session, session.keys().results(job, status), 1);
    if (!ids) return fail(ids.error());
    const auto runs = read_runs(session, *ids);
    if (!runs) return fail(runs.error());
    consider(*runs);
  }
  if (newest) return *newest;
  const std::vector<std::string> names{job};
  if (const auto known = read_definitions(session, names); !known) return fail(known.error());
  return fail(Code::not_found, "no run of job " + quoted(job, 200) + " is remembered");
}

Result<ClusterRun> run_meant(ClusterSession& session, const std::string& name) {
  if (is_run_id(name)) {
    const auto run = read_run(session, name);
    if (!run) return fail(run.error());
    if (*run) return **run;
  }
  return newest_run_of(session, name);
}

// The lines of an output, in either dialect. Lines are only added, so their numbers stay.
class OutputReader {
 public:
  OutputReader(ClusterSession& session, std::string run_id) : session_(session), key_(session.keys().output(run_id)) {}

  // Nothing: there is no such key (yet, or no longer).
  Result<std::optional<std::size_t>> count() {
    const auto type = session_.ask({"TYPE", key_});
    if (!type) return fail(type.error());
    const auto kind = cluster::output_kind(type->text);
    if (!kind) return fail(kind.error());
    kind_ = *kind;
    if (kind_ == cluster::OutputKind::none) return std::optional<std::size_t>();
    const auto count = session_.ask(cluster::count_of_output(kind_, key_));
    if (!count) return fail(count.error());
    return std::optional(static_cast<std::size_t>(std::max<std::int64_t>(count->integer, 0)));
  }

  // At most a page of them, from this one on.
  Result<std::vector<std::string>> page(std::size_t first) {
    const auto lines = session_.ask(cluster::page_of_output(kind_, key_, first, kLinesAtOnce));
    if (!lines) return fail(lines.error());
    std::vector<std::string> texts;
    for (const RedisValue& line : lines->items) texts.push_back(cluster::text_of_line(kind_, line.text));
    return texts;
  }

 private:
  ClusterSession& session_;
  std::string key_;
  cluster::OutputKind kind_ = cluster::OutputKind::none;
};

class LinePrinter {
 public:
  LinePrinter(std::string run_id, bool json)
      : run_id_(std::move(run_id)), json_(json), is_terminal_(::isatty(STDOUT_FILENO) == 1) {}

  // False when nobody reads any more.
  bool print(const std::vector<std::string>& lines) const {
    for (const std::string& line : lines) {
      const std::string text = form_of(line);
      if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) return false;
    }
    return std::fflush(stdout) == 0;
  }

 private:
  std::string form_of(const std::string& line) const {
    if (json_) return JsonWriter().begin_map().member("runId", run_id_).member("text", line).end_map().take() + "\n";
    if (!is_terminal_) return line;
    const bool is_whole = line.ends_with('\n');
    return shown_line(std::string_view(line).substr(0, line.size() - (is_whole ? 1 : 0))) + (is_whole ? "\n" : "");
  }

  std::string run_id_;
  bool json_;
  bool is_terminal_;
};

// Prints what is there from line `next` on, and moves `next` behind it.
Status print_rest(OutputReader& output, const LinePrinter& printer, std::size_t& next) {
  for (;;) {
    const auto lines = output.page(next);
    if (!lines) return fail(lines.error());
    if (lines->empty()) return {};
    next += lines->size();
    if (!printer.print(*lines)) return fail(Code::io, "standard output is closed");
  }
}

// What rundata keeps of an output whose key has expired.
void print_kept_lines(const ClusterRun& run, const LinePrinter& printer) {
  std::fprintf(stderr, "kron cluster logs: the output is no longer kept (24 hours); its last lines:\n");
  std::vector<std::string> lines;
  for (std::string_view rest = run.output; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
    lines.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  printer.print(lines);
}

Status show_cluster_output(ClusterSession& session, ClusterRun run, const ClusterLogsOptions& options) {
  OutputReader output(session, run.id);
  const LinePrinter printer(run.id, options.json);
  std::size_t next = 0;
  bool is_first = true;
  for (;;) {
    // In this order: what is written before the end is there when the end is seen.
    const bool is_over = !run.is_running();
    const auto count = output.count();
    if (!count) return fail(count.error());
    if (*count) {
      if (is_first && options.tail > 0 && options.tail < **count) next = **count - options.tail;
      is_first = false;
      if (const Status printed = print_rest(output, printer, next); !printed) return printed;
    }
    if (is_over && !*count && is_first && !run.output.empty()) print_kept_lines(run, printer);
    if (is_over || !options.follow) return {};
    ::poll(nullptr, 0, kFollowMilliseconds);
    const auto again = read_run(session, run.id);
    if (!again) return fail(again.error());
    if (!*again) return fail(Code::not_found, "run " + run.id + " has been removed from Redis");
    run = **again;
  }
}

}  // namespace

int cluster_logs(const ClusterLogsOptions& options) {
  constexpr std::string_view kVerb = "cluster logs";
  auto session = ClusterSession::open(options);
  if (!session) return refuse(kVerb, session.error(), options.json);
  auto run = run_meant(*session, options.name);
  if (!run) return refuse(kVerb, run.error(), options.json);
  const Status done = show_cluster_output(*session, *std::move(run), options);
  return done ? 0 : refuse(kVerb, done.error(), options.json);
}

}  // namespace kron::cli
