#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "answer_text.h"
#include "daemon_client.h"
#include "definition_text.h"
#include "flag_values.h"
#include "kron/json/writer.h"
#include "lines.h"
#include "named.h"
#include "operate_verbs.h"

namespace kron::cli {
namespace {

// The run that is meant: itself, or the newest of a job.
struct Wanted {
  std::string run_id;
  std::string job;
  std::string known = {};  // what the job's record tells of a run that is no longer in the history
};

Result<Wanted> newest_run(DaemonClient& client, const Node& job, const ScreenTimes& times) {
  const std::string name = text_in(job, "identity");
  const auto body =
      client.get(Target("runs").parameter("job", name).parameter("outcome", "executed").parameter("limit", "1"));
  if (!body) return fail(body.error());
  const auto page = parsed_answer(*body);
  if (!page) return fail(page.error());
  const Node::List& runs = list_in(*page, "runs");
  if (!runs.empty()) return Wanted{text_in(runs.front(), "runId"), name};
  const Node* last = job.find("last");
  if (last == nullptr || last->is_null()) {
    return fail(Code::not_found, "job " + name + " has not run yet, so there is no output");
  }
  const std::string known = result_of(*last) + ", " + times.near(time_of(*last));
  const std::string run_id = text_in(*last, "runId");
  if (run_id.empty()) {
    return fail(Code::not_found, "no run of job " + name +
                                     " is remembered, so there is no output (krond's --keep-runs); its last: " + known);
  }
  return Wanted{run_id, name, "job " + name + " last ran long ago (" + known + ")"};
}

Result<Wanted> run_named(DaemonClient& client, const std::string& name, const ScreenTimes& times) {
  const auto found = find_named(client, name);
  if (!found) return fail(found.error());
  const auto body = parsed_answer(found->body);
  if (!body) return fail(body.error());
  if (found->kind == Named::Kind::run) return Wanted{text_in(*body, "runId"), text_in(*body, "job")};
  return newest_run(client, *body, times);
}

Error with_known(Error error, const Wanted& wanted) {
  if (!wanted.known.empty() && error.code == Code::not_found) error.message = wanted.known + "; " + error.message;
  return error;
}

// Nothing was kept: perhaps because the job sends it elsewhere.
void tell_elsewhere(DaemonClient& client, const std::string& name) {
  const auto body = client.get(Target("jobs").segment(name));
  const auto job = body ? parsed_answer(*body) : fail(body.error());
  const Node* definition = job ? job->find("definition") : nullptr;
  const std::string elsewhere = definition == nullptr || definition->is_null() ? "" : elsewhere_of(*definition);
  if (elsewhere.empty()) return;
  std::fprintf(stderr, "kron logs: krond has no output of job %s: its %s\n", harmless(name).c_str(),
               harmless(elsewhere).c_str());
}

// Where the last `count` lines begin. A newline at the very end ends a line, it begins none.
std::size_t start_of_tail(std::string_view text, std::size_t count) {
  std::size_t start = text.size();  // of the lines that were counted
  for (; count > 0 && start > 0; --count) {
    const std::size_t end = start - (text[start - 1] == '\n' ? 1 : 0);  // of the line before them
    const std::size_t newline = end == 0 ? std::string_view::npos : text.rfind('\n', end - 1);
    start = newline == std::string_view::npos ? 0 : newline + 1;
  }
  return start;
}

// The end of an output that holds so many lines, or all of it.
struct Ending {
  std::string bytes;
  std::optional<std::uint64_t> end = {};  // the number of the byte behind it; none: krond did not tell
};

std::size_t lines_in(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n')) + (text.empty() || text.ends_with('\n') ? 0 : 1);
}

Result<Ending> whole_of(DaemonClient& client, const Target& output) {
  auto whole = client.get(output);
  if (!whole) return fail(whole.error());
  return Ending{*std::move(whole)};
}

// Asks for as little as may do, and for more as long as it does not. An older krond, which has only the whole, gives
// that, and so does any of another host's run.
Result<Ending> ending_of(DaemonClient& client, const Target& output, std::size_t lines) {
  constexpr std::uint64_t kFirst = std::uint64_t{64} << 10;
  for (std::uint64_t size = kFirst;; size *= 8) {
    Ending ending;
    std::optional<std::uint64_t> first;
    Target part = output;
    part.parameter("tail", std::to_string(size));
    const Status got = client.stream(
        part, {},
        [&](std::string_view bytes) {
          ending.bytes += bytes;
          return true;
        },
        [&](const http::Response& head) {
          std::uint64_t number = 0;
          const std::string_view told = head.header("kron-output-first").value_or("");
          const auto read = std::from_chars(told.data(), told.data() + told.size(), number);
          if (!told.empty() && read.ec == std::errc()) first = number;
        });
    if (!got && got.error().code == Code::invalid) return whole_of(client, output);
    if (!got) return fail(got.error());
    if (first) ending.end = *first + ending.bytes.size();
    // A line more than is wanted: the first may be a part of one.
    if (!first || ending.bytes.size() < size || lines_in(ending.bytes) > lines) return ending;
  }
}

class Printer {
 public:
  Printer(std::string run_id, bool json) : run_id_(std::move(run_id)), json_(json) {}

  // Seen at once, also through a pipe. False when nobody reads any more.
  bool print(std::string_view bytes) const {
    if (bytes.empty()) return true;
    if (json_) {
      const std::string line =
          JsonWriter().begin_map().member("runId", run_id_).member("text", bytes).end_map().take() + "\n";
      return std::fwrite(line.data(), 1, line.size(), stdout) == line.size() && std::fflush(stdout) == 0;
    }
    return std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size() && std::fflush(stdout) == 0;
  }

 private:
  std::string run_id_;
  bool json_;
};

}  // namespace

int show_output(const LogsOptions& options) {
  auto client = DaemonClient::open(options);
  if (!client) return refuse("logs", client.error(), options.json);
  const auto wanted = run_named(*client, options.name, screen_times(options.times));
  if (!wanted) return refuse("logs", wanted.error(), options.json);
  const Printer printer(wanted->run_id, options.json);
  Target target = Target("runs").segment(wanted->run_id).segment("output");
  std::size_t shown = 0;  // bytes that need not be followed
  std::string from;       // the byte to go on with
  if (!options.follow || options.tail > 0) {
    auto ending = options.tail > 0 ? ending_of(*client, target, options.tail) : whole_of(*client, target);
    if (!ending) return refuse("logs", with_known(ending.error(), *wanted), options.json);
    const std::string& body = ending->bytes;
    if (body.empty()) tell_elsewhere(*client, wanted->job);
    const std::size_t start = options.tail > 0 ? start_of_tail(body, options.tail) : 0;
    printer.print(std::string_view(body).substr(start));
    if (!options.follow) return 0;
    if (ending->end) from = std::to_string(*ending->end);
    if (!ending->end) shown = body.size();
  }
  target.parameter("follow", "true").parameter("from", from);
  const Status done = client->stream(target, {}, [&](std::string_view bytes) {
    const std::size_t known = std::min(shown, bytes.size());
    shown -= known;
    return printer.print(bytes.substr(known));
  });
  return done ? 0 : refuse("logs", with_known(done.error(), *wanted), options.json);
}

}  // namespace kron::cli
