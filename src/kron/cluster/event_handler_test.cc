#include "kron/cluster/event_handler.h"

#include <gtest/gtest.h>

#include "kron/base/rfc3339.h"
#include "kron/env/fake/capturing_log.h"
#include "kron/env/fake/fake_clock.h"

namespace kron::cluster {
namespace {

struct HandlerRig {
  HandlerRig() : handler(actions(), {.name = "web", .instance = "web#2"}, clock, log) {}

  EventHandler::Actions actions() {
    const auto note = [this](std::string what) { done.push_back(std::move(what)); };
    EventHandler::Actions actions;
    actions.set_paused = [note](const std::string& job, const std::optional<jobs::ClusterPause>& pause) {
      if (!pause) return note("resume " + job);
      note("pause " + job + (pause->since ? " " + rfc3339(*pause->since) + " " + pause->by + " " + pause->note : ""));
    };
    actions.terminate = [this, note](std::string_view run, const Sender& sender) {
      return note("terminate " + std::string(run) + sender.by), answer;
    };
    actions.kill = [this, note](std::string_view run, const Sender& sender) {
      return note("kill " + std::string(run) + sender.by), answer;
    };
    actions.add = [note](const std::string& job, const std::string& text) { note("add " + job + " " + text); };
    actions.remove = [note](const std::string& job) { note("remove " + job); };
    actions.reload = [note] { note("reload"); };
    actions.trigger = [this, note](std::string_view job, std::string_view id, const Sender& sender, auto done) {
      note("trigger " + std::string(job) + " " + std::string(id) + sender.by);
      answer_trigger = [this, done] { done(answer); };
      if (!is_slow) answer_trigger();
    };
    actions.validate = [note](const std::vector<std::string>& jobs) {
      note("validate " + std::to_string(jobs.size()));
    };
    actions.drain = [this, note] { note("drain"), is_draining = true; };
    actions.is_draining = [this] { return is_draining; };
    return actions;
  }

  std::vector<std::string> take() { return std::exchange(done, {}); }

  kron::testing::FakeClock clock{instant_of(1'000'000)};
  kron::testing::CapturingLog log;
  std::vector<std::string> done;
  Status answer;
  std::function<void()> answer_trigger;
  bool is_slow = false;
  bool is_draining = false;
  EventHandler handler;
};

using Deeds = std::vector<std::string>;

TEST(EventHandler, DoesWhatEachEventSays) {
  HandlerRig host;
  host.handler.handle(events::Pause{"a"});
  host.handler.handle(events::Resume{"all"});
  host.handler.handle(events::TerminateRun{"r"});
  host.handler.handle(events::KillRun{"r"});
  host.handler.handle(events::Add{"a", "{}"});
  host.handler.handle(events::Remove{"a"});
  host.handler.handle(R"({"action":"reload","args":{}})");
  host.handler.handle(events::Trigger{"a", "id"});
  host.handler.handle(events::Validate{{"a", "b"}});
  EXPECT_EQ(host.done, (Deeds{"pause a", "resume all", "terminate r", "kill r", "add a {}", "remove a", "reload",
                              "trigger a id", "validate 2"}));
  EXPECT_TRUE(host.log.lines_of("cluster_event_failed").empty());
}

TEST(EventHandler, HandsOnWhoHasSentIt) {
  HandlerRig host;
  const std::string anna = R"(,"by":" anna","note":"disk"})";
  host.handler.handle(R"({"action":"pause","args":"a","at":60)" + anna);
  host.handler.handle(R"({"action":"terminate_run","args":"r")" + anna);
  host.handler.handle(R"({"action":"kill_run","args":"r")" + anna);
  host.handler.handle(R"({"action":"trigger","args":"a","id":"x")" + anna);
  EXPECT_EQ(host.done,
            (Deeds{"pause a 1970-01-01T00:01:00Z  anna disk", "terminate r anna", "kill r anna", "trigger a x anna"}));
}

TEST(EventHandler, SurvivesJunkAndSaysSo) {
  HandlerRig host;
  host.handler.handle("\xff junk");
  host.handler.handle(R"({"action":"dance","args":1})");
  EXPECT_TRUE(host.done.empty());
  EXPECT_EQ(host.log.lines_of("cluster_event_ignored").size(), 2U);
}

TEST(EventHandler, PassesByTriggersThatAreOld) {
  HandlerRig host;
  host.handler.handle(events::Trigger{"a", "id", instant_of(1'000'000 - 60)});
  host.handler.handle(events::Trigger{"a", "", instant_of(1'000'000 + 5)});
  EXPECT_EQ(host.take(), (Deeds{"trigger a id", "trigger a "}));
  host.handler.handle(events::Trigger{"a", "id", instant_of(1'000'000 - 61)});
  EXPECT_TRUE(host.done.empty());
  EXPECT_EQ(host.log.lines_of("cluster_trigger_too_old").size(), 1U);
}

TEST(EventHandler, DrainsWhenItsHostOrInstanceIsNamedAndRunsNoTriggersThen) {
  HandlerRig host;
  host.handler.handle(events::DrainNodes{{"we", "webs", "web#1", "other"}});
  EXPECT_TRUE(host.done.empty());
  host.handler.handle(events::DrainNodes{{"other", "web"}});
  EXPECT_EQ(host.take(), Deeds{"drain"});
  host.handler.handle(events::DrainNodes{{"web#2"}});
  EXPECT_EQ(host.take(), Deeds{"drain"});
  host.handler.handle(events::Trigger{"a"});
  EXPECT_TRUE(host.done.empty());
}

TEST(EventHandler, SaysWhatFailedButNotWhatIsAnotherHosts) {
  HandlerRig host;
  host.answer = fail(Code::not_found, "no such run here");
  host.handler.handle(events::KillRun{"r"});
  host.answer = fail(Code::conflict, "its lock is held");
  host.handler.handle(events::Trigger{"a"});
  EXPECT_TRUE(host.log.lines_of("cluster_event_failed").empty());
  host.answer = fail(Code::io, "no");
  host.handler.handle(events::Trigger{"a"});
  EXPECT_EQ(host.log.lines_of("cluster_event_failed").size(), 1U);
  EXPECT_FALSE(host.log.lines_of("cluster_event").back().field("args").empty()) << "what it was about";
}

TEST(EventHandler, SaysWhatBecameOfATriggerWhenItIsKnown) {
  HandlerRig host;
  host.is_slow = true;
  host.answer = fail(Code::io, "no");
  host.handler.handle(events::Trigger{"a", "id"});
  host.handler.handle(events::Pause{"b"});
  EXPECT_EQ(host.take(), (Deeds{"trigger a id", "pause b"})) << "other events do not wait for it";
  EXPECT_TRUE(host.log.lines_of("cluster_event_failed").empty());
  host.answer_trigger();
  ASSERT_EQ(host.log.lines_of("cluster_event_failed").size(), 1U);
  EXPECT_EQ(host.log.lines_of("cluster_event_failed").back().field("args"), "a");
}

}  // namespace
}  // namespace kron::cluster
