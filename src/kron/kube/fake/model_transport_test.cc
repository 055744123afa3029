#include "kron/kube/fake/model_transport.h"

#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <random>
#include <set>

#include "kron/env/fake/fake_clock.h"
#include "kron/kube/object.h"
#include "kron/kube/reflector.h"
#include "kron/kube/wire.h"
#include "kron/testing/scale.h"

namespace kron::testing {
namespace {

using kube::ApiServer;
using kube::Failure;
using kube::Verb;
using Fate = ModelTransport::Fate;
using LineFate = ModelTransport::LineFate;

const std::string kJobsOfShop = "/apis/batch/v1/namespaces/shop/jobs";

std::string job_text(const std::string& name) {
  return R"({"metadata":{"namespace":"shop","name":")" + name + R"("},"spec":{"suspend":true,"template":{}}})";
}

class ModelTransportTest : public ::testing::Test {
 protected:
  std::optional<kube::Outcome> create(const std::string& name) {
    auto got = std::make_shared<std::optional<kube::Outcome>>();
    transport.send({Verb::create, kJobsOfShop, "", job_text(name)}, kube::Lane::call,
                   [got](kube::Outcome outcome) { *got = std::move(outcome); });
    EXPECT_FALSE(*got) << "never within send()";
    transport.settle();
    while (!*got && transport.next_at()) {
      clock.advance(std::max(*transport.next_at() - clock.monotonic(), Nanoseconds(0)));
      transport.settle();
    }
    return *got;
  }
  static Failure failure_in(const std::optional<kube::Outcome>& outcome) {
    return std::get<kube::Broken>(outcome.value()).failure;
  }
  [[nodiscard]] bool is_there(const std::string& name) const { return server.find("jobs", "shop", name) != nullptr; }

  FakeClock clock{instant_of(1'795'000'000)};
  ApiServer server;
  ModelTransport transport{server, clock};
};

TEST_F(ModelTransportTest, AnAnswerComesWhenItIsStepped) {
  EXPECT_EQ(std::get<kube::Response>(create("a").value()).code, 201);
  EXPECT_TRUE(is_there("a"));
  EXPECT_EQ(transport.under_way(), 0U);
  EXPECT_EQ(transport.asked().size(), 1U);
}

TEST_F(ModelTransportTest, AWayTakesItsTime) {
  transport.way = Seconds(1);
  transport.way_back = Seconds(2);
  bool is_told = false;
  transport.send({Verb::create, kJobsOfShop, "", job_text("a")}, kube::Lane::call,
                 [&](const kube::Outcome&) { is_told = true; });
  EXPECT_FALSE(transport.step());
  clock.advance(Seconds(1));
  EXPECT_TRUE(transport.step());
  EXPECT_FALSE(transport.step());
  EXPECT_TRUE(is_there("a") && !is_told) << "carried out, not yet answered";
  clock.advance(Seconds(2));
  EXPECT_TRUE(transport.step() && is_told);
}

TEST_F(ModelTransportTest, ARequestThatIsNotSentDoesNothing) {
  transport.fate = [](const ModelTransport::Asked&) { return Fate::not_sent; };
  EXPECT_EQ(failure_in(create("a")), Failure::not_sent);
  EXPECT_FALSE(is_there("a"));
  transport.fate = {};
  transport.is_down = true;
  EXPECT_EQ(failure_in(create("a")), Failure::not_sent);
}

TEST_F(ModelTransportTest, AnAnswerThatIsLostWasCarriedOut) {
  transport.fate = [](const ModelTransport::Asked&) { return Fate::answer_lost; };
  EXPECT_EQ(failure_in(create("a")), Failure::unknown);
  EXPECT_TRUE(is_there("a"));
  EXPECT_EQ(clock.monotonic(), transport.patience);
}

TEST_F(ModelTransportTest, ARequestMayLandWhenNobodyWaitsForIt) {
  transport.fate = [](const ModelTransport::Asked&) { return Fate::floats; };
  EXPECT_EQ(failure_in(create("a")), Failure::unknown);
  EXPECT_FALSE(is_there("a"));
  ASSERT_EQ(transport.floating().size(), 1U);
  transport.land(0);
  EXPECT_TRUE(is_there("a"));
  EXPECT_TRUE(transport.floating().empty());

  transport.lands_after = Seconds(60);
  create("b");
  EXPECT_FALSE(is_there("b"));
  clock.advance(Seconds(55));
  EXPECT_EQ(transport.settle(), 1U);
  EXPECT_TRUE(is_there("b"));
}

TEST_F(ModelTransportTest, ARequestThatIsCancelledIsCarriedOutAllTheSame) {
  bool is_told = false;
  const auto id = transport.send({Verb::create, kJobsOfShop, "", job_text("a")}, kube::Lane::call,
                                 [&](const kube::Outcome&) { is_told = true; });
  transport.cancel(id);
  transport.settle();
  EXPECT_TRUE(is_there("a") && !is_told);
}

// What a reflector on it knows, and how it goes on.
class ReflectedTest : public ModelTransportTest {
 protected:
  void begin(std::size_t page = 2) {
    kube::Reflector::Listener listener;
    listener.on_object = [this](const Node& object) {
      known[kube::text_at(object, {"metadata", "name"})] = kube::text_at(object, {"metadata", "resourceVersion"});
    };
    listener.on_gone = [this](const kube::Reflector::Gone& gone) { known.erase(gone.name); };
    reflector = std::make_unique<kube::Reflector>(
        transport, clock, kube::Reflector::Options{.path = kJobsOfShop, .page = page}, std::move(listener));
  }
  // Lets this much time pass.
  void pass(Nanoseconds time) {
    const Nanoseconds end = clock.monotonic() + time;
    while (true) {
      std::optional<Nanoseconds> next = reflector->tick();
      if (transport.settle() > 0) continue;
      if (const auto other = transport.next_at(); other && (!next || *other < *next)) next = other;
      if (!next || *next >= end) break;
      clock.advance(std::max(*next - clock.monotonic(), Nanoseconds(1)));
    }
    clock.advance(end - clock.monotonic());
    reflector->tick();
  }
  void add(const std::string& name) { server.create("jobs", parse_json(job_text(name)).value()); }
  void finish(const std::string& name) { server.finish("shop", name, true); }
  void remove(const std::string& name) { server.remove("jobs", "shop", name, ApiServer::Deletion::background); }
  [[nodiscard]] bool is_true() const {
    std::map<std::string, std::string> there;
    for (const auto& object : server.list("jobs")) {
      there[kube::text_at(*object, {"metadata", "name"})] = kube::text_at(*object, {"metadata", "resourceVersion"});
    }
    return there == known;
  }

  std::map<std::string, std::string> known;
  std::unique_ptr<kube::Reflector> reflector;
};

TEST_F(ReflectedTest, AReflectorListsAndWatches) {
  for (const char* name : {"a", "b", "c", "d", "e"}) add(name);
  begin();
  pass(Seconds(1));
  EXPECT_TRUE(is_true());
  EXPECT_EQ(transport.watches(), 1U);
  EXPECT_EQ(transport.asked().size(), 4U) << "three pages and the watch";
  finish("a");
  remove("b");
  add("f");
  pass(Seconds(1));
  EXPECT_TRUE(is_true());
  pass(std::chrono::hours(1));
  EXPECT_TRUE(is_true());
  EXPECT_LE(transport.asked().size(), 4U + 12U) << "idle, it renews its watch every five minutes and asks nothing else";
}

TEST_F(ReflectedTest, BookmarksKeepAWatchYoung) {
  begin();
  pass(Seconds(1));
  // Others' objects move the version on.
  for (int i = 0; i < 100; ++i) {
    server.create(
        "kronjobs",
        parse_json(R"({"metadata":{"namespace":"shop","name":"k)" + std::to_string(i) + R"("},"spec":{}})").value());
  }
  pass(Seconds(70));
  server.compact();
  transport.cut_watches();
  add("a");
  pass(Seconds(10));
  EXPECT_TRUE(is_true());
  EXPECT_EQ(transport.asked().size(), 3U) << "one list, two watches";
}

TEST_F(ReflectedTest, WhatWasCompactedIsListedAnew) {
  for (const bool as_status : {false, true}) {
    server.options.gone_as_status = as_status;
    add("a");
    add("b");
    begin();
    pass(Seconds(1));
    transport.is_down = true;
    transport.cut_watches();
    pass(Seconds(1));
    remove("a");
    add("c");
    server.compact();
    transport.is_down = false;
    pass(Seconds(60));
    EXPECT_TRUE(is_true()) << as_status;
    for (const char* name : {"b", "c"}) remove(name);
    known.clear();
  }
}

TEST_F(ReflectedTest, HeldEventsAreLateAndNotLost) {
  begin();
  pass(Seconds(1));
  transport.holds_events = true;
  add("a");
  pass(Seconds(30));
  EXPECT_FALSE(is_true());
  transport.holds_events = false;
  pass(Seconds(1));
  EXPECT_TRUE(is_true());
  transport.event_delay = Seconds(5);
  add("b");
  pass(Seconds(4));
  EXPECT_FALSE(is_true());
  pass(Seconds(2));
  EXPECT_TRUE(is_true());
}

TEST_F(ReflectedTest, WhateverHappensOnTheWayItKnowsTheTruthInTheEnd) {
  for (int seed = 0; seed < scaled(30); ++seed) {
    SCOPED_TRACE(seed);
    server = ApiServer();
    std::mt19937 random(static_cast<unsigned>(seed));
    const auto one_in = [&](unsigned n) { return random() % n == 0; };
    transport.fate = [&](const ModelTransport::Asked&) { return static_cast<Fate>(one_in(4) ? random() % 4 : 0); };
    transport.line_fate = [&](std::string_view) { return static_cast<LineFate>(one_in(3) ? random() % 4 : 0); };
    known.clear();
    begin();
    for (int i = 0; i < 60; ++i) {
      const std::string name(1, static_cast<char>('a' + random() % 8));
      switch (random() % 6) {
        case 0:
        case 1:
          add(name);
          break;
        case 2:
          remove(name);
          break;
        case 3:
          finish(name);
          break;
        case 4:
          if (one_in(3)) server.compact();
          if (one_in(3)) transport.cut_watches(one_in(2));
          break;
        default:
          pass(std::chrono::milliseconds(random() % 20'000));
      }
    }
    transport.fate = {};
    transport.line_fate = {};
    pass(std::chrono::minutes(5));
    EXPECT_TRUE(is_true());
    reflector.reset();
  }
}

}  // namespace
}  // namespace kron::testing
