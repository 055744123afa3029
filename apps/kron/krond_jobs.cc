#include "krond_jobs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "answer_text.h"
#include "daemon_client.h"
#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/json/writer.h"

namespace kron::cli {
namespace {

// What has no part in when a job runs, and may be kept from whoever asks.
constexpr std::array<std::string_view, 3> kNotAboutTime{"env", "stdin", "ping"};
// That there is a check is told, and which is kept from whoever asks.
constexpr std::string_view kSomePing = "https://hidden.invalid/check";

Node about_time(const Node& definition) {
  Node::Map members = *definition.as<Node::Map>();
  std::erase_if(members, [](const Node::Member& member) {
    return std::ranges::find(kNotAboutTime, member.key) != kNotAboutTime.end();
  });
  return Node(std::move(members));
}

// The definition as a document of one job, which is read like a file.
std::string one_job_document(const Node& definition) {
  Node::Map members = *about_time(definition).as<Node::Map>();
  if (definition.find("ping") != nullptr) members.push_back({"ping", {}, Node(std::string(kSomePing))});
  JsonWriter json;
  return json.begin_map().key("jobs").begin_list().node(Node(std::move(members))).end_list().end_map().take();
}

Result<ReadJobs> job_of_krond(const DaemonOptions& krond, const std::string& name, ZoneDatabase& zones) {
  auto client = DaemonClient::open(krond);
  if (!client) return fail(client.error());
  const auto body = client->get(Target("jobs").segment(name));
  if (!body) return fail(body.error());
  const auto job = parsed_answer(*body);
  if (!job) return fail(job.error());
  const Node* definition = job->find("definition");
  if (definition == nullptr || definition->as<Node::Map>() == nullptr) {
    return fail(Code::not_found, "krond cannot tell the definition of " + name + "; name its file with --file");
  }
  ReadJobs read;
  read.jobs = jobs::load_text(text_in(*job, "file"), one_job_document(*definition), jobs::Spelling::yaml, zones);
  if (read.jobs.has_errors() || read.jobs.definitions.size() != 1) {
    const std::string why = read.jobs.problems.empty() ? "" : ": " + read.jobs.problems.front().message;
    return fail(Code::invalid,
                "the definition that krond has of " + name + " cannot be read" + why + "; name its file with --file");
  }
  read.jobs.problems.clear();
  read.jobs.definitions.front().line = static_cast<std::uint32_t>(number_in(*job, "line"));
  return read;
}

struct Told {
  std::map<std::string, std::pair<std::string, std::int64_t>> places;  // file and line of each job
  std::size_t held = 0;
  std::size_t not_told = 0;
  std::map<std::string, Seconds> usual;
};

void take_usual(const Node& job, Told& told) {
  const Node* node = job.find("usualSeconds");
  if (node == nullptr) return;
  if (const auto* seconds = node->as<double>()) told.usual[text_in(job, "identity")] = Seconds(std::llround(*seconds));
  if (const auto* seconds = node->as<std::int64_t>()) told.usual[text_in(job, "identity")] = Seconds(*seconds);
}

// One page: its definitions go to `document`, a list that was begun. Where the next begins; nothing: it was the last.
std::string take_definitions(const Node& page, JsonWriter& document, Told& told) {
  for (const Node& job : list_in(page, "jobs")) {
    const Node* paused = job.find("paused");
    const Node* definition = job.find("definition");
    if ((paused != nullptr && !paused->is_null()) || flag_in(job, "suspended")) {
      ++told.held;
    } else if (definition == nullptr || definition->as<Node::Map>() == nullptr) {
      ++told.not_told;
    } else if (told.places.emplace(text_in(job, "identity"), std::pair(text_in(job, "file"), number_in(job, "line")))
                   .second) {
      document.node(about_time(*definition));
      take_usual(job, told);
    }
  }
  return text_in(page, "next");
}

// Gives each name that is told a place among the jobs.
class Names {
 public:
  explicit Names(std::vector<jobs::JobDefinition>& jobs) : jobs_(jobs) {}

  std::size_t place_of(const std::string& name) {
    const auto [found, is_new] = places_.try_emplace(name, jobs_.size());
    if (is_new) jobs_.emplace_back().job.identity = name;
    return found->second;
  }

 private:
  std::vector<jobs::JobDefinition>& jobs_;
  std::map<std::string, std::size_t> places_;
};

std::uint64_t count_in(const Node& node, std::string_view name) {
  return static_cast<std::uint64_t>(number_in(node, name));
}

LoadProfile::Side told_side(const Node& told, const LoadProfile& profile, Names& names) {
  LoadProfile::Side side{.starts = {},
                         .total = count_in(told, "total"),
                         .peak = count_in(told, "peak"),
                         .p50 = count_in(told, "p50"),
                         .p95 = count_in(told, "p95"),
                         .p99 = count_in(told, "p99"),
                         .hot_spots = {}};
  for (const Node& starts : list_in(told, "starts")) {
    const auto* count = starts.as<std::int64_t>();
    side.starts.push_back(count == nullptr ? 0 : static_cast<std::uint64_t>(*count));
  }
  for (const Node& spot : list_in(told, "hotSpots")) {
    const auto time = parse_rfc3339(text_in(spot, "time"));
    if (!time || *time < profile.from) continue;
    LoadProfile::HotSpot& hot = side.hot_spots.emplace_back(
        LoadProfile::HotSpot{static_cast<std::size_t>((*time - profile.from) / profile.step),
                             count_in(spot, "starts"),
                             count_in(spot, "jobs"),
                             {}});
    for (const Node& cause : list_in(spot, "causes")) {
      hot.causes.push_back({names.place_of(text_in(cause, "job")), count_in(cause, "starts")});
    }
  }
  return side;
}

void take_lost(const Node& document, LoadProfile& profile, Names& names) {
  if (const Node* lost = document.find("unschedulable")) {
    for (const Node& job : list_in(*lost, "jobs")) {
      LoadProfile::Unschedulable& told = profile.unschedulable.emplace_back(
          LoadProfile::Unschedulable{names.place_of(text_in(job, "job")), count_in(job, "periods"), {}});
      for (const Node& first : list_in(job, "first")) {
        const auto* text = first.as<std::string>();
        const auto nominal = text == nullptr ? fail(Code::internal, "") : parse_rfc3339(*text);
        if (nominal) told.first.push_back(*nominal);
      }
    }
  }
  if (const Node* excluded = document.find("excluded")) {
    for (const Node& job : list_in(*excluded, "jobs")) {
      profile.excluded.push_back(
          {names.place_of(text_in(job, "job")), count_in(job, "periods"), text_in(job, "clause")});
    }
  }
}

}  // namespace

Result<ReadJobs> jobs_asked_for(const SourceOptions& files, const DaemonOptions& krond, const std::string& job,
                                ZoneDatabase& zones) {
  if (files.paths.empty()) return job_of_krond(krond, job, zones);
  return read_jobs(files, zones);
}

Result<KrondTerms> terms_of_krond(const DaemonOptions& krond) {
  auto client = DaemonClient::open(krond);
  if (!client) return fail(client.error());
  const auto body = client->get(Target("status"));
  if (!body) return fail(body.error());
  const auto status = parsed_answer(*body);
  if (!status) return fail(status.error());
  return KrondTerms{Seconds(number_in(*status, "catchUpSpreadSeconds")),
                    static_cast<std::size_t>(number_in(*status, "maxRunning"))};
}

Result<ToldJobs> jobs_of_krond(const DaemonOptions& krond, ZoneDatabase& zones) {
  auto client = DaemonClient::open(krond);
  if (!client) return fail(client.error());
  Told told;
  JsonWriter document;
  document.begin_map().key("jobs").begin_list();
  std::string after;
  do {
    const auto body = client->get(Target("jobs")
                                      .parameter("fields", "definition,file,line,paused,suspended,usualSeconds")
                                      .parameter("limit", "1000")
                                      .parameter("after", after));
    if (!body) return fail(body.error());
    const auto page = parsed_answer(*body);
    if (!page) return fail(page.error());
    after = take_definitions(*page, document, told);
  } while (!after.empty());
  ToldJobs all{.read = {}, .held = told.held, .not_told = told.not_told, .usual = std::move(told.usual)};
  if (told.places.empty()) return all;
  all.read.jobs = jobs::load_text("krond", document.end_list().end_map().take(), jobs::Spelling::yaml, zones);
  all.read.jobs.problems.clear();
  all.not_told += told.places.size() - all.read.jobs.definitions.size();
  for (jobs::JobDefinition& definition : all.read.jobs.definitions) {
    const auto& [file, line] = told.places.at(definition.job.identity);
    definition.file = std::make_shared<const std::string>(file);
    definition.line = static_cast<std::uint32_t>(line);
  }
  return all;
}

Result<ToldLoad> told_load(const Node& document) {
  ToldLoad told;
  LoadProfile& profile = told.profile;
  const auto from = parse_rfc3339(text_in(document, "from"));
  const auto until = parse_rfc3339(text_in(document, "until"));
  const Seconds step(number_in(document, "stepSeconds"));
  const Node* before = document.find("before");
  const Node* after = document.find("after");
  if (!from || !until || step < Seconds(1) || before == nullptr || after == nullptr) {
    return fail(Code::internal, "krond answered what is no load");
  }
  profile.from = *from;
  profile.until = *until;
  profile.step = step;
  profile.jobs = static_cast<std::size_t>(number_in(document, "jobs"));
  profile.suspended = static_cast<std::size_t>(number_in(document, "suspendedJobs"));
  profile.at_boot = static_cast<std::size_t>(number_in(document, "rebootJobs"));
  Names names(told.jobs);
  profile.before = told_side(*before, profile, names);
  profile.after = told_side(*after, profile, names);
  if (profile.before.starts.empty() || profile.before.starts.size() != profile.after.starts.size()) {
    return fail(Code::internal, "krond answered what is no load");
  }
  take_lost(document, profile, names);
  return told;
}

Result<ToldLoad> load_of_krond(const DaemonOptions& krond, const LoadQuestion& question) {
  auto client = DaemonClient::open(krond);
  if (!client) return fail(client.error());
  const auto body = client->get(Target("load")
                                    .parameter("from", rfc3339(question.from))
                                    .parameter("for", std::to_string(question.length.count()) + "s")
                                    .parameter("step", std::to_string(question.step.count()) + "s"));
  if (!body) return fail(body.error());
  const auto document = parsed_answer(*body);
  if (!document) return fail(document.error());
  return told_load(*document);
}

}  // namespace kron::cli
