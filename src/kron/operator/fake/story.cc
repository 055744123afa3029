// Random stories: what happens to a KronJob, its Jobs, its leaders and their requests, from a seed.
#include <algorithm>
#include <deque>
#include <utility>

#include "kron/kube/fake/node_edit.h"
#include "kron/operator/fake/simulation.h"

namespace kron::testing {
namespace {

using kube::ApiServer;

class Teller {
 public:
  explicit Teller(const Story& story) : story_(story), random_(story.seed) {
    world_.mutant = story.mutant;
    world_.server.now = at("2026-03-01T11:59:30Z");
    world_.server.options.allow_unconditional = story.mutant == Mutant::record_without_version;
    world_.witness.is_strict = story.recreation;
    draw_spec();
    world_.server.create("kronjobs", spec_.object());
    const int leaders = story.two_leaders && !story.recreation ? 2 : 1;
    for (int i = 0; i < leaders; ++i) {
      const Seconds skew(story.recreation ? 0 : number(-2, 2));
      leaders_.emplace_back(world_, "leader " + std::to_string(i), skew);
      leaders_.back().list("kronjobs");
      leaders_.back().list("jobs");
    }
  }

  Verdict tell() {
    for (int i = 0; i < story_.length && world_.witness.broken().empty(); ++i) happen();
    while (!world_.floating.empty()) world_.land(0);
    Verdict verdict;
    if (world_.witness.broken().empty()) {
      const bool is_quiet = settle_down(world_);
      if (is_quiet) world_.witness.look_at_end(world_.server);
      verdict.broken = world_.witness.broken();
      if (!is_quiet) verdict.broken.emplace_back("it never rests");
    } else {
      verdict.broken = world_.witness.broken();
    }
    verdict.trace = std::move(world_.trace);
    verdict.executed = world_.witness.executed();
    return verdict;
  }

 private:
  int number(int first, int last) { return std::uniform_int_distribution<int>(first, last)(random_); }
  bool chance(int percent) { return number(1, 100) <= percent; }
  Leader& leader() { return leaders_[static_cast<std::size_t>(number(0, static_cast<int>(leaders_.size()) - 1))]; }
  std::string_view kind() { return chance(50) ? "jobs" : "kronjobs"; }
  void tell_of(std::string what) { world_.trace.push_back(rfc3339(world_.server.now) + " " + std::move(what)); }

  Fate fate() {
    const int drawn = number(1, 100);
    if (drawn <= 78) return Fate::answered;
    if (drawn <= 86) return Fate::answer_lost;
    return drawn <= 92 ? Fate::not_sent : Fate::floats;
  }

  void draw_spec() {
    constexpr std::string_view kSchedules[] = {"* * * * *", "*/2 * * * *", "* * * * *"};
    constexpr std::string_view kWindows[] = {"0s", "30s", "90s"};
    constexpr std::string_view kConcurrency[] = {"forbid", "allow", "replace"};
    constexpr std::string_view kDeadlines[] = {"0s", "30s", "10m"};
    spec_.schedule = kSchedules[number(0, 2)];
    spec_.window = kWindows[number(0, 2)];
    spec_.concurrency = kConcurrency[number(0, 2)];
    spec_.deadline = kDeadlines[number(0, 2)];
    spec_.salt = std::to_string(number(0, 3));
    spec_.successful = number(0, 2);
  }

  void edit_spec() {
    tell_of("edit: " + spec_.schedule + ", window " + spec_.window + ", " + spec_.concurrency +
            (spec_.suspend ? ", suspended" : ""));
    world_.server.edit("kronjobs", kNamespace, kName,
                       [&](const Node& object) { return kube::with(object, {"spec"}, spec_.spec()); });
  }

  // Any Job, or none.
  ApiServer::Object some_job() {
    const std::vector<ApiServer::Object> jobs = world_.server.list("jobs");
    if (jobs.empty()) return nullptr;
    return jobs[static_cast<std::size_t>(number(0, static_cast<int>(jobs.size()) - 1))];
  }

  void work() {
    Leader& one = leader();
    if (!one.is_synced()) one.list(kind());
    if (!one.is_synced()) return;
    for (int i = number(1, 4); i > 0; --i) {
      if (!one.step(fate())) return;
    }
  }

  void listen() {
    Leader& one = leader();
    for (int i = number(1, 6); i > 0; --i) {
      const std::string_view of = kind();
      if (!story_.recreation && chance(3)) one.lose_event(of);
      one.hear(of, chance(5));
    }
  }

  void disturb_job() {
    const ApiServer::Object job = some_job();
    if (!job) return;
    const std::string name = kube::text_at(*job, {"metadata", "name"});
    const std::string uid = kube::text_at(*job, {"metadata", "uid"});
    const bool has_started = world_.server.has_started(uid);
    const auto suspend = [&](bool on) {
      world_.server.edit("jobs", kNamespace, name, [&](const Node& object) {
        return kube::with(object, {"spec", "suspend"}, Node(on));
      });
    };
    switch (number(1, 12)) {
      case 1:
      case 2:
        tell_of("somebody deletes " + name);
        world_.witness.excuse(uid);
        world_.server.remove("jobs", kNamespace, name, ApiServer::Deletion::background);
        return;
      case 3:
        if (has_started) {
          tell_of("somebody pauses " + name);
          suspend(true);
        }
        return;
      case 4:
        if (has_started) suspend(false);
        return;
      case 5:
        tell_of("somebody takes the label off " + name);
        world_.server.edit("jobs", kNamespace, name, [&](const Node& object) {
          return kube::without(object, {"metadata", "labels", "kron.io/name"});
        });
        return;
      default:
        if (has_started) {
          tell_of(name + " ends");
          world_.server.finish(kNamespace, name, chance(70));
        }
        return;
    }
  }

  void collect() {
    // What is being deleted goes; what the collector deletes of its own accord is not ours to answer for.
    if (!world_.server.find("kronjobs", kNamespace, kName) || story_.recreation) {
      world_.witness.excuse_all(world_.server);
    }
    world_.server.collect_garbage();
  }

  void recreate() {
    if (world_.server.find("kronjobs", kNamespace, kName)) {
      tell_of("the KronJob is deleted");
      world_.witness.excuse_all(world_.server);
      world_.server.remove("kronjobs", kNamespace, kName, static_cast<ApiServer::Deletion>(number(0, 2)));
    } else {
      draw_spec();
      tell_of("the KronJob is made anew: " + spec_.schedule + ", window " + spec_.window);
      spec_.suspend = false;
      world_.server.create("kronjobs", spec_.object());
    }
  }

  void happen() {
    const int drawn = number(1, 100);
    if (drawn <= 38) return work();
    if (drawn <= 58) return listen();
    if (drawn <= 74) {
      world_.server.now += Seconds(number(1, 25));
      return;
    }
    if (drawn <= 79) {
      if (world_.floating.empty()) return;
      const auto which = static_cast<std::size_t>(number(0, static_cast<int>(world_.floating.size()) - 1));
      return world_.land(which);
    }
    if (drawn <= 82) {
      if (story_.recreation) return;
      tell_of("a leader crashes");
      return leader().crash();
    }
    if (drawn <= 84) return leader().list(kind());
    if (drawn <= 86) {
      const bool suspend = spec_.suspend;
      draw_spec();
      spec_.suspend = suspend;
      return edit_spec();
    }
    if (drawn <= 89) {
      // Not for long: while it is suspended little happens.
      spec_.suspend = !spec_.suspend && chance(40);
      return edit_spec();
    }
    if (drawn <= 91) {
      const std::string token = "t" + std::to_string(++tokens_);
      tell_of("run now " + token);
      return world_.server.edit("kronjobs", kNamespace, kName, [&](const Node& object) {
        return kube::with_text(object, {"metadata", "annotations", "kron.io/run-now"}, token);
      });
    }
    if (drawn <= 97) return disturb_job();
    if (drawn == 98) return collect();
    if (drawn == 99 && story_.clock_jumps && !story_.recreation) {
      const int jump = number(-200, 200);
      tell_of("the clock jumps by " + std::to_string(jump));
      world_.server.now += Seconds(jump);
      return;
    }
    if (story_.recreation) recreate();
  }

  const Story& story_;
  std::mt19937_64 random_;
  World world_;
  KronJobText spec_;
  int tokens_ = 0;
  std::deque<Leader> leaders_;
};

}  // namespace

Verdict play(const Story& story) { return Teller(story).tell(); }

}  // namespace kron::testing
