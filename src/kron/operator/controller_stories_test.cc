// Random stories with whole operators: they die, freeze and come back, calls and events are lost or late, users edit
// and delete. A witness looks at every call that reaches the server.
#include <gtest/gtest.h>
#include <random>

#include "kron/kube/fake/node_edit.h"
#include "kron/operator/fake/operators.h"
#include "kron/operator/fake/witness.h"
#include "kron/testing/scale.h"

namespace kron::testing {
namespace {

using std::chrono::milliseconds;

class OperatorStory {
 public:
  explicit OperatorStory(unsigned seed) : random_(seed) {
    text_.concurrency = pick({"allow", "forbid", "replace"});
    text_.deadline = pick({"0s", "5s", "30s", "5m"});
    text_.window = pick({"0s", "20s"});
    world_.create(text_);
  }

  void play(int length) {
    begin_operator();
    begin_operator();
    for (int i = 0; i < length; ++i) {
      act();
      world_.run(milliseconds(below(15'000)));
    }
    // Everything has gone wrong for a while; now nothing does.
    while (!names_.empty()) end_operator();
    world_.server.options = {};
    set_suspended(false);
    world_.start("last").way.respond = witnessed();
    world_.run(std::chrono::minutes(8));
    witness_.look_at_end(world_.server);
  }

  [[nodiscard]] const std::vector<std::string>& broken() const { return witness_.broken(); }
  [[nodiscard]] std::size_t executed() const { return witness_.executed(); }

 private:
  unsigned below(unsigned end) { return static_cast<unsigned>(random_() % end); }
  std::string pick(std::initializer_list<const char*> words) {
    return std::data(words)[below(static_cast<unsigned>(words.size()))];
  }

  std::function<kube::Response(const kube::Request&)> witnessed() {
    return [this](const kube::Request& request) {
      const bool is_of_kron =
          request.path.find("/jobs") != std::string::npos || request.path.find("/kronjobs") != std::string::npos;
      if (!is_of_kron) return world_.server.respond(request);
      witness_.look_before(world_.server, request);
      kube::Response response = world_.server.respond(request);
      witness_.look_after(world_.server, request, {response.code, Node()});
      return response;
    };
  }

  void begin_operator() {
    const std::string name = "o" + std::to_string(++started_);
    Operator& one = world_.start(name, below(4) != 0);  // or one that believes to be the leader, come what may
    one.way.respond = witnessed();
    one.way.way = milliseconds(below(100));
    one.way.way_back = milliseconds(below(100));
    one.way.event_delay = milliseconds(below(2) == 0 ? 0 : below(4'000));
    one.way.patience = milliseconds(500);
    one.way.lands_after = milliseconds(below(20'000));
    names_.push_back(name);
  }

  void end_operator() {
    const std::size_t which = below(static_cast<unsigned>(names_.size()));
    world_.kill(names_[which]);
    names_.erase(names_.begin() + static_cast<std::ptrdiff_t>(which));
  }

  Operator& any_operator() { return world_[names_[below(static_cast<unsigned>(names_.size()))]]; }

  void set_suspended(bool is_suspended) {
    world_.server.edit("kronjobs", kNamespace, kName, [&](const Node& object) {
      return kube::with(object, {"spec", "policy", "suspend"}, Node(is_suspended));
    });
  }

  void lose_calls(Operator& one) {
    one.way.fate = [this](const ModelTransport::Asked& asked) {
      constexpr ModelTransport::Fate kFates[] = {ModelTransport::Fate::not_sent, ModelTransport::Fate::answer_lost,
                                                 ModelTransport::Fate::floats};
      if (!is_call(asked) || below(3) != 0) return ModelTransport::Fate::answered;
      return kFates[below(3)];
    };
  }

  void delete_some_job() {
    const auto jobs = world_.server.list("jobs");
    if (jobs.empty()) return;
    const Node& job = *jobs[below(static_cast<unsigned>(jobs.size()))];
    witness_.excuse(kube::text_at(job, {"metadata", "uid"}));
    world_.server.remove("jobs", kNamespace, kube::text_at(job, {"metadata", "name"}),
                         kube::ApiServer::Deletion::background);
  }

  void act() {
    Operator& one = any_operator();
    switch (below(14)) {
      case 0:
        end_operator();
        return begin_operator();
      case 1:
      case 2:
        one.is_frozen = !one.is_frozen;
        return;
      case 3:
      case 4:
        return lose_calls(one);
      case 5:
        one.way.fate = {};
        return;
      case 6:
        world_.server.compact();
        return one.way.cut_watches();
      case 7:
        return delete_some_job();
      case 8:
        return set_suspended(below(2) == 0);
      case 9:
        world_.server.options.refuse_status_with = below(2) == 0 ? 0 : 500;
        return;
      case 10:
        world_.server.options.refuse_patches_with = below(2) == 0 ? 0 : 422;
        return;
      case 11:
        one.way.holds_events = !one.way.holds_events;
        return;
      case 12:
        return world_.server.collect_garbage();
      default:
        return world_.finish_jobs();
    }
  }

  std::mt19937 random_;
  KronJobText text_;
  Operators world_;
  Witness witness_;
  std::vector<std::string> names_;
  int started_ = 0;
};

TEST(ControllerStories, KeepThePromises) {
  std::size_t executed = 0;
  for (int seed = 0; seed < scaled(12); ++seed) {
    OperatorStory story(static_cast<unsigned>(seed));
    story.play(40);
    executed += story.executed();
    for (const std::string& promise : story.broken()) ADD_FAILURE() << "seed " << seed << ": " << promise;
  }
  EXPECT_GT(executed, static_cast<std::size_t>(scaled(12)) * 2U) << "stories in which nothing happens prove nothing";
}

}  // namespace
}  // namespace kron::testing
