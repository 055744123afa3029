#include "id_prefix.h"

#include <algorithm>
#include <vector>

#include "answer_text.h"
#include "kron/base/text.h"

namespace kron::cli {
namespace {

constexpr std::size_t kWholeRunId = 32;     // of those that krond makes
constexpr std::size_t kMostCandidates = 5;  // that an error names

struct Candidate {
  std::string id;
  std::string about;  // what tells it from the others
};

// `found` has one more than an error names when there may be more.
Result<std::string> the_one(const std::string& typed, const std::vector<Candidate>& found, const char* kind) {
  const bool is_whole = std::ranges::any_of(found, [&](const Candidate& one) { return one.id == typed; });
  if (is_whole || found.empty()) return typed;
  if (found.size() == 1) return found.front().id;
  std::string text = kron::quoted(typed) + " is the beginning of more than one " + kind + ":";
  for (std::size_t i = 0; i < std::min(found.size(), kMostCandidates); ++i) {
    text += (i == 0 ? " " : ", ") + harmless(found[i].id) + " (" + harmless(found[i].about) + ")";
  }
  return fail(Code::invalid, text + (found.size() > kMostCandidates ? " and others" : "") + "; type more of it");
}

}  // namespace

Result<std::string> run_id_of(DaemonClient& client, const std::string& typed) {
  if (typed.size() < kLeastIdPrefix || typed.size() >= kWholeRunId) return typed;
  const auto body =
      client.get(Target("runs").parameter("idPrefix", typed).parameter("limit", std::to_string(kMostCandidates + 1)));
  const bool is_no_id = !body && (body.error().code == Code::invalid || body.error().code == Code::not_found);
  if (is_no_id) return typed;  // an older krond does not know of prefixes either
  if (!body) return fail(body.error());
  const auto page = parsed_answer(*body);
  if (!page) return fail(page.error());
  std::vector<Candidate> found;
  for (const Node& run : list_in(*page, "runs")) {
    found.push_back({text_in(run, "runId"), text_in(run, "job") + ", " + time_of(run)});
  }
  return the_one(typed, found, "run");
}

Result<std::string> task_id_of(TaskClient& client, const std::string& typed) {
  if (typed.size() < kLeastIdPrefix) return typed;
  const auto whole = client.get(typed);
  if (whole || whole.error().code != Code::not_found) return typed;
  // Ids come in the order of their bytes: those that begin with it stand right behind it.
  const auto page = client.list({.after = typed, .limit = kMostCandidates + 1});
  if (!page) return fail(page.error());
  std::vector<Candidate> found;
  for (const Task& task : *page) {
    if (task.spec.id.starts_with(typed)) found.push_back({task.spec.id, std::string(name_of(state_of(task)))});
  }
  return the_one(typed, found, "task");
}

}  // namespace kron::cli
