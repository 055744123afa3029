#include "kron/kube/election.h"

#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <vector>

#include "kron/kube/object.h"
#include "kron/testing/property.h"

namespace kron::kube {
namespace {

using State = Election::State;
using std::chrono::milliseconds;

constexpr Instant kStart = instant_of(1'795'000'000);

Answer status(int code) { return {.code = code, .body = Node()}; }

// One Lease, with compare-and-set.
class LeaseServer {
 public:
  Answer handle(const Request& request) {
    if (refuse_with != 0) return status(refuse_with);
    ++calls;
    switch (request.verb) {
      case Verb::get:
        return body_ ? Answer{200, *body_} : status(404);
      case Verb::create:
        if (body_) return status(409);
        return store(request.body, 201);
      case Verb::update: {
        if (!body_) return status(404);
        const Node wanted = parse_json(request.body).value();
        if (text_at(wanted, {"metadata", "resourceVersion"}) != std::to_string(version_)) return status(409);
        return store(request.body, 200);
      }
      case Verb::patch:
      case Verb::remove:
        break;
    }
    return status(405);
  }
  void remove() { body_.reset(); }
  [[nodiscard]] std::optional<Lease> lease() const {
    return body_ ? std::optional(read_lease(*body_).value()) : std::nullopt;
  }

  int refuse_with = 0;
  int calls = 0;

 private:
  Answer store(std::string text, int code) {
    ++version_;
    const Node wanted = parse_json(text).value();
    const std::string had = text_at(wanted, {"metadata", "resourceVersion"});
    if (!had.empty()) {
      const std::string member = ",\"resourceVersion\":\"" + had + "\"";
      text.erase(text.find(member), member.size());
    }
    const std::string kName = "\"name\":";
    text.insert(text.find(kName), R"("uid":"u","creationTimestamp":"2026-11-17T10:00:00Z","resourceVersion":")" +
                                      std::to_string(version_) + "\",");
    body_ = parse_json(text).value();
    return {code, *body_};
  }

  std::optional<Node> body_;
  int version_ = 10;
};

Election::Options named(const std::string& identity) {
  return {.ns = "kron", .name = "kron-operator", .identity = identity};
}

struct Member {
  explicit Member(const std::string& identity) : election(named(identity)) {}

  Election election;
  Nanoseconds clock_ahead{0};  // its wall clock
  bool is_stopped = false;     // SIGSTOP
};

// Virtual time, in steps of 100 ms, in which all members do what they have to do.
struct World {
  LeaseServer server;
  Nanoseconds now{Seconds(1000)};

  [[nodiscard]] WallTime wall() const { return WallTime(kStart) + now; }

  void step(Member& member) {
    if (member.is_stopped) return;
    for (int calls = 0; calls < 10; ++calls) {
      const Election::Step step = member.election.next(now, wall() + member.clock_ahead);
      const auto* call = std::get_if<Election::Call>(&step);
      if (call == nullptr) {
        EXPECT_GT(std::get<Election::Rest>(step).until, now);
        return;
      }
      member.election.answered(server.handle(call->request), now);
    }
    ADD_FAILURE() << "calls without end";
  }
  void run(Nanoseconds time, std::vector<Member*> members) {
    const Nanoseconds end = now + time;
    for (; now < end; now += milliseconds(100)) {
      for (Member* member : members) step(*member);
    }
  }
  void run(Nanoseconds time, Member& member) { run(time, std::vector<Member*>{&member}); }
};

TEST(Election, IsWonAtOnceWhenThereIsNoLease) {
  World world;
  Member a("a");
  world.step(a);
  EXPECT_EQ(a.election.state(), State::leader);
  EXPECT_TRUE(a.election.is_leader(world.now));
  EXPECT_EQ(world.server.lease()->holder, "a");
  EXPECT_EQ(world.server.lease()->duration, Seconds(15));
  EXPECT_EQ(a.election.handed_over(), std::nullopt);
}

TEST(Election, IsKeptByRenewalsEveryTwoSeconds) {
  World world;
  Member a("a");
  world.run(Seconds(60), a);
  EXPECT_TRUE(a.election.is_leader(world.now));
  EXPECT_LE(world.server.calls, 2 + 30);
  EXPECT_GE(world.server.calls, 29);
  EXPECT_EQ(world.server.lease()->transitions, 0);
}

TEST(Election, HasOneLeaderAmongTwo) {
  World world;
  Member a("a");
  Member b("b");
  world.run(Seconds(60), {&a, &b});
  EXPECT_EQ(a.election.state(), State::leader);
  EXPECT_EQ(b.election.state(), State::standby);
  EXPECT_EQ(b.election.holder(), "a");
  EXPECT_LE(world.now - b.election.seen_at().value(), Seconds(1));
}

TEST(Election, IsTakenOverWhenTheLeaseExpiresAndNotBefore) {
  World world;
  Member a("a");
  Member b("b");
  world.run(Seconds(30), {&a, &b});
  const Nanoseconds last = world.now;  // a is dead from here on
  while (b.election.state() != State::leader && world.now < last + Seconds(60)) {
    world.step(b);
    world.now += milliseconds(100);
  }
  EXPECT_GE(world.now - last, Seconds(12));  // its last renewal was up to two seconds, and a look, before
  EXPECT_LE(world.now - last, Seconds(17));
  EXPECT_EQ(world.server.lease()->transitions, 1);
  EXPECT_EQ(b.election.handed_over(), std::nullopt);
}

TEST(Election, RestsExactlyUntilTheExpiry) {
  World world;
  Member a("a");
  world.step(a);
  world.now += milliseconds(300);
  Election b([] {
    auto options = named("b");
    options.look_every = std::chrono::minutes(10);
    return options;
  }());
  const auto read = std::get<Election::Call>(b.next(world.now, world.wall()));
  b.answered(world.server.handle(read.request), world.now);
  EXPECT_EQ(std::get<Election::Rest>(b.next(world.now, world.wall())).until, world.now + Seconds(15));
  world.now += Seconds(15);
  EXPECT_EQ(std::get<Election::Call>(b.next(world.now, world.wall())).request.verb, Verb::update);
}

TEST(Election, DoesNotBelieveInTheClocksOfOthers) {
  World world;
  Member a("a");
  a.clock_ahead = -std::chrono::hours(5);
  Member b("b");
  b.clock_ahead = std::chrono::hours(5);
  world.run(Seconds(60), {&a, &b});
  EXPECT_EQ(a.election.state(), State::leader);
  EXPECT_EQ(b.election.state(), State::standby);
}

TEST(Election, IsLostBeforeAnotherCanWinIt) {
  World world;
  Member a("a");
  world.run(Seconds(5), a);
  a.is_stopped = true;
  Member b("b");
  bool was_sure = true;
  for (int i = 0; i < 300; ++i, world.now += milliseconds(100)) {
    world.step(b);
    was_sure = was_sure && a.election.is_leader(world.now);
    if (b.election.state() == State::leader) {
      EXPECT_FALSE(a.election.is_leader(world.now));
    }
  }
  EXPECT_FALSE(was_sure);
  EXPECT_EQ(b.election.state(), State::leader);
  a.is_stopped = false;
  world.step(a);
  EXPECT_EQ(a.election.state(), State::lost);
  world.run(Seconds(60), {&a, &b});
  EXPECT_EQ(a.election.state(), State::lost);  // for good
  EXPECT_TRUE(b.election.is_leader(world.now));
}

TEST(Election, OutlastsAServerThatIsAwayForSevenSecondsAndNotForEleven) {
  for (const auto& [away, expected] : {std::pair(Seconds(7), State::leader), std::pair(Seconds(11), State::lost)}) {
    World world;
    Member a("a");
    world.run(Seconds(5), a);
    world.server.refuse_with = 503;
    world.run(away, a);
    world.server.refuse_with = 0;
    world.run(Seconds(5), a);
    EXPECT_EQ(a.election.state(), expected) << away.count();
  }
}

TEST(Election, GivenBackIsTakenWithinASecondAndTellsSinceWhen) {
  World world;
  Member a("a");
  Member b("b");
  world.run(Seconds(30), {&a, &b});
  const WallTime idle = world.wall() - Seconds(2);  // it had something to finish
  a.election.release(idle);
  world.step(a);
  EXPECT_EQ(a.election.state(), State::released);
  EXPECT_FALSE(a.election.is_leader(world.now));
  EXPECT_EQ(world.server.lease()->holder, "");
  EXPECT_EQ(world.server.lease()->duration, Seconds(1));
  world.run(milliseconds(1'300), {&a, &b});
  EXPECT_EQ(b.election.state(), State::leader);
  EXPECT_EQ(b.election.handed_over(), idle);
}

TEST(Election, IsNotGivenBackByOneWhoDoesNotHoldIt) {
  World world;
  Member a("a");
  Member b("b");
  world.run(Seconds(3), {&a, &b});
  b.election.release(world.wall());
  world.run(Seconds(3), {&a, &b});
  EXPECT_EQ(b.election.state(), State::standby);
  EXPECT_EQ(world.server.lease()->holder, "a");
}

TEST(Election, GoesOnWithALeaseWhoseAnswerWasLost) {
  for (const bool is_done : {true, false}) {
    World world;
    Election a(named("a"));
    const auto lose = [&](Verb expected) {
      const auto call = std::get<Election::Call>(a.next(world.now, world.wall()));
      EXPECT_EQ(call.request.verb, expected);
      if (is_done) std::ignore = world.server.handle(call.request);
      a.answered(Failure::unknown, world.now);
    };
    const auto answer = [&](Verb expected) {
      const auto call = std::get<Election::Call>(a.next(world.now, world.wall()));
      EXPECT_EQ(call.request.verb, expected);
      a.answered(world.server.handle(call.request), world.now);
    };
    answer(Verb::get);
    lose(Verb::create);
    EXPECT_EQ(a.state(), State::standby);
    world.now += Seconds(1);
    answer(Verb::get);
    answer(is_done ? Verb::update : Verb::create);
    EXPECT_TRUE(a.is_leader(world.now));
    world.now += Seconds(2);
    lose(Verb::update);
    EXPECT_TRUE(a.is_leader(world.now));
    world.now += Seconds(1);
    answer(Verb::get);
    answer(Verb::update);
    EXPECT_EQ(a.state(), State::leader);
    EXPECT_EQ(world.server.lease()->transitions, 0);
  }
}

TEST(Election, CountsARenewalFromWhenItWasSent) {
  World world;
  Election a(named("a"));
  const auto slow = [&](Nanoseconds time) {
    const auto call = std::get<Election::Call>(a.next(world.now, world.wall()));
    const Answer answer = world.server.handle(call.request);
    world.now += time;
    a.answered(answer, world.now);
  };
  slow(Seconds(0));
  const Nanoseconds sent = world.now;
  slow(Seconds(4));
  EXPECT_TRUE(a.is_leader(sent + Seconds(10) - Nanoseconds(1)));
  EXPECT_FALSE(a.is_leader(sent + Seconds(10)));
}

TEST(Election, StaysWithTheLeaderWhenSomebodyDeletesTheLease) {
  World world;
  Member a("a");
  Member b("b");
  world.run(Seconds(10), a);
  world.server.remove();
  world.run(Seconds(5), a);
  EXPECT_TRUE(a.election.is_leader(world.now));
  EXPECT_EQ(world.server.lease()->holder, "a");
  world.server.remove();
  world.run(Seconds(5), {&b, &a});  // b is faster
  EXPECT_EQ(b.election.state(), State::leader);
  EXPECT_EQ(a.election.state(), State::lost);
}

TEST(Election, PausesAreUpToAFifthLonger) {
  World world;
  auto options = named("a");
  options.jitter = [] { return 1.0; };
  Election a(options);
  for (int i = 0; i < 2; ++i) {
    a.answered(world.server.handle(std::get<Election::Call>(a.next(world.now, world.wall())).request), world.now);
  }
  EXPECT_EQ(std::get<Election::Rest>(a.next(world.now, world.wall())).until, world.now + milliseconds(2'400));
}

// Members that are stopped, answers that are lost after or before the deed, a server that refuses, and pauses of any
// length: never two that are sure of it at one moment, and somebody holds it again when all is well.
TEST(Election, HasNeverTwoLeadersByTheirOwnClocks) {
  testing::for_all(150, [] {
    World world;
    std::vector<std::unique_ptr<Election>> members;
    for (const char* name : {"a", "b", "c"}) members.push_back(std::make_unique<Election>(named(name)));
    const auto check = [&] {
      int sure = 0;
      for (const auto& member : members) sure += member->is_leader(world.now) ? 1 : 0;
      RC_ASSERT(sure <= 1);
    };
    const int steps = *rc::gen::inRange(20, 300);
    for (int i = 0; i < steps; ++i) {
      world.now += milliseconds(*rc::gen::inRange(0, 1'500));
      if (*rc::gen::inRange(0, 60) == 0) world.now += Seconds(12);
      const auto which = *rc::gen::inRange<std::size_t>(0, members.size());
      Election& one = *members[which];
      check();
      const Election::Step step = one.next(world.now, world.wall());
      const auto* call = std::get_if<Election::Call>(&step);
      if (call != nullptr) {
        const int fate = *rc::gen::inRange(0, 10);
        if (fate == 0) {
          one.answered(Failure::not_sent, world.now);
        } else if (fate == 1) {
          std::ignore = world.server.handle(call->request);
          one.answered(Failure::unknown, world.now);
        } else if (fate == 2) {
          one.answered(status(503), world.now);
        } else {
          const Answer answer = world.server.handle(call->request);
          world.now += milliseconds(*rc::gen::inRange(0, 3'000));
          one.answered(answer, world.now);
        }
      }
      if (*rc::gen::inRange(0, 25) == 0 && one.state() == State::leader) one.release(world.wall());
      if (one.state() == State::lost || one.state() == State::released) {
        members[which] = std::make_unique<Election>(named("m" + std::to_string(i)));  // a fresh process
      }
      check();
    }
    Nanoseconds limit = world.now + Seconds(40);
    bool has_leader = false;
    for (; world.now < limit; world.now += milliseconds(200)) {
      has_leader = false;
      for (auto& member : members) {
        const Election::Step step = member->next(world.now, world.wall());
        if (const auto* call = std::get_if<Election::Call>(&step)) {
          member->answered(world.server.handle(call->request), world.now);
        }
        has_leader = has_leader || member->is_leader(world.now);
      }
      check();
    }
    RC_ASSERT(has_leader);
  });
}

}  // namespace
}  // namespace kron::kube
