#include <algorithm>
#include <cstdio>

#include "answer_text.h"
#include "daemon_client.h"
#include "operate_verbs.h"
#include "terminal.h"

namespace kron::cli {
namespace {

struct ChangeKind {
  const char* key;    // of the names
  const char* count;  // of all of them
  const char* done;
  const char* to_do;
};
constexpr ChangeKind kChangeKinds[] = {{"added", "addedCount", "added", "would add"},
                                       {"changed", "changedCount", "changed", "would change"},
                                       {"removed", "removedCount", "removed", "would remove"}};

void print_problems(const Node& answer) {
  for (const Node& problem : list_in(answer, "problems")) {
    std::fprintf(stderr, "%s: %s: %s\n", harmless(place_in(problem)).c_str(), text_in(problem, "severity").c_str(),
                 harmless(text_in(problem, "message")).c_str());
  }
  for (const Node& path : list_in(answer, "keptFiles")) {
    const auto* text = path.as<std::string>();
    if (text != nullptr) std::fprintf(stderr, "%s: its earlier jobs stay in force\n", harmless(*text).c_str());
  }
}

// A line for each job that a reload would touch.
void print_names(const Node& answer, const ChangeKind& kind) {
  const Node::List& names = list_in(answer, kind.key);
  for (const Node& name : names) {
    if (const auto* text = name.as<std::string>()) std::printf("%s %s\n", kind.to_do, harmless(*text).c_str());
  }
  const auto more = number_in(answer, kind.count) - static_cast<std::int64_t>(names.size());
  if (more > 0) std::printf("%s %lld more\n", kind.to_do, static_cast<long long>(more));
}

// "6 jobs: 2 added, 1 removed"; of an older krond, which does not tell of changes, "6 jobs".
void print_summary(const Node& answer, bool is_dry_run) {
  std::string changes;
  for (const ChangeKind& kind : kChangeKinds) {
    const std::int64_t count = number_in(answer, kind.count);
    if (count > 0) changes += (changes.empty() ? ": " : ", ") + std::to_string(count) + " " + kind.done;
  }
  if (changes.empty() && answer.find("addedCount") != nullptr) changes = ", nothing changed";
  const std::string jobs = counted(static_cast<std::size_t>(number_in(answer, "jobs")), "job");
  std::printf("%s%s%s\n", is_dry_run ? "dry run: " : "", jobs.c_str(), changes.c_str());
}

void print_reloaded(const Node& answer) {
  const bool is_dry_run = flag_in(answer, "dryRun");
  print_problems(answer);
  if (is_dry_run) {
    for (const ChangeKind& kind : kChangeKinds) print_names(answer, kind);
  }
  print_summary(answer, is_dry_run);
}

bool has_errors(const Node& reloaded) {
  return std::ranges::any_of(list_in(reloaded, "problems"),
                             [](const Node& problem) { return text_in(problem, "severity") == "error"; });
}

}  // namespace

int reload_jobs(const ReloadOptions& options) {
  auto client = DaemonClient::open(options);
  const Target target = Target("reload").parameter("dryRun", options.dry_run ? "true" : "");
  const auto body = client ? client->post(target) : fail(client.error());
  const int status = answered("reload", options.json, body, print_reloaded);
  if (status != 0) return status;
  const auto answer = parsed_answer(*body);
  return answer && has_errors(*answer) ? exit_status(Code::invalid) : 0;
}

}  // namespace kron::cli
