#include "kron/queue/pending_index.h"

#include <gtest/gtest.h>
#include <map>
#include <tuple>

#include "kron/queue/queue_rig.h"
#include "kron/queue/transitions.h"
#include "kron/testing/property.h"

namespace kron {
namespace {

using testing::for_all;
using testing::kQueueStart;

constexpr Seconds kAgeing{60};
bool any(std::string_view) { return true; }

TEST(PendingIndex, GivesTheMostUrgentFirst) {
  PendingIndex index(kAgeing);
  EXPECT_TRUE(index.add({"later", "T", 0, kQueueStart + Seconds(5), 1}));
  EXPECT_TRUE(index.add({"second", "T", 0, kQueueStart, 3}));
  EXPECT_TRUE(index.add({"first", "U", 0, kQueueStart, 2}));
  EXPECT_TRUE(index.add({"urgent", "T", 1, kQueueStart, 9}));
  EXPECT_FALSE(index.add({"urgent", "T", 1, kQueueStart, 9}));
  EXPECT_EQ(index.take(kQueueStart, any), "urgent");
  EXPECT_EQ(index.take(kQueueStart, any), "first");
  EXPECT_EQ(index.take(kQueueStart, any), "second");
  EXPECT_EQ(index.take(kQueueStart, any), std::nullopt);
  EXPECT_EQ(index.next_ready(), kQueueStart + Seconds(5));
  EXPECT_EQ(index.take(kQueueStart + Seconds(5), any), "later");
  EXPECT_EQ(index.size(), 0U);
}

TEST(PendingIndex, WhatWasReadyStaysReadyWhenTheClockIsSetBack) {
  PendingIndex index(kAgeing);
  index.add({"a", "T", 0, kQueueStart, 1});
  index.add({"b", "T", 0, kQueueStart, 2});
  EXPECT_EQ(index.take(kQueueStart, any), "a");
  EXPECT_EQ(index.take(kQueueStart - Seconds(1000), any), "b");
}

TEST(PendingIndex, SurvivesThousandsOfComingsAndGoings) {
  PendingIndex index(kAgeing);
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 2000; ++i) {
      const std::string id = std::to_string(round) + "-a-rather-long-identifier-of-a-task-" + std::to_string(i);
      ASSERT_TRUE(index.add({id, "T", i % 7, kQueueStart + Seconds(i % 5), static_cast<std::uint64_t>(i)}));
    }
    for (int i = 0; i < 2000; i += 2) {
      ASSERT_TRUE(index.remove(std::to_string(round) + "-a-rather-long-identifier-of-a-task-" + std::to_string(i)));
    }
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(index.take(kQueueStart + Seconds(9), any));
    ASSERT_EQ(index.size(), 0U);
  }
}

// The same as a sorted list would answer.
TEST(PendingIndex, AgreesWithAListThatIsSearched) {
  struct Waiting {
    std::string type;
    int priority;
    Instant ready;
    std::uint64_t sequence;
  };
  for_all(200, [] {
    PendingIndex index(kAgeing);
    std::map<std::string, Waiting> model;
    Instant now = kQueueStart;
    const int steps = *rc::gen::inRange(1, 200);
    for (int i = 0; i < steps; ++i) {
      const int draw = *rc::gen::inRange(0, 5);
      const std::string id = std::to_string(*rc::gen::inRange(0, 30));
      if (draw <= 1) {
        const Waiting task{std::to_string(*rc::gen::inRange(0, 3)), *rc::gen::inRange(-3, 4),
                           now + Seconds(*rc::gen::inRange(-100, 100)), static_cast<std::uint64_t>(i)};
        const bool is_new = model.emplace(id, task).second;
        RC_ASSERT(index.add({id, task.type, task.priority, task.ready, task.sequence}) == is_new);
      } else if (draw == 2) {
        RC_ASSERT(index.remove(id) == (model.erase(id) == 1));
      } else if (draw == 3) {
        now += Seconds(*rc::gen::inRange(0, 60));
      } else {
        const std::string barred = std::to_string(*rc::gen::inRange(0, 4));
        auto best = model.end();
        const auto key = [](const auto& at) {
          const Waiting& w = at->second;
          return std::tuple(rank_of(w.ready, w.priority, kAgeing), w.ready, w.sequence);
        };
        for (auto at = model.begin(); at != model.end(); ++at) {
          if (at->second.type == barred || at->second.ready > now) continue;
          if (best == model.end() || key(at) < key(best)) best = at;
        }
        const auto taken = index.take(now, [&](std::string_view type) { return type != barred; });
        RC_ASSERT(taken.has_value() == (best != model.end()));
        if (taken) {
          RC_ASSERT(*taken == best->first);
          model.erase(best);
        }
      }
      RC_ASSERT(index.size() == model.size());
      RC_ASSERT(index.contains(id) == model.contains(id));
    }
  });
}

}  // namespace
}  // namespace kron
