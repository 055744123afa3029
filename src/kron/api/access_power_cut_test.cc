#include <gtest/gtest.h>
#include <set>

#include "kron/api/access_store.h"
#include "kron/core/sample_jobs.h"
#include "kron/env/fake/fake_clock.h"
#include "kron/env/fake/silent_log.h"
#include "kron/env/fake/sweep.h"
#include "kron/testing/scale.h"

namespace kron::api::access_power_cut_test {
namespace {

using testing::Crash;
using testing::PowerCutFileSystem;
using testing::Sabotage;
using testing::Sweep;
using testing::SweepCounts;
using testing::SweepOptions;

// What was promised to people: these tokens let in, those never again. What was being asked for when the power went is
// in neither.
struct Promised {
  std::set<std::string> good;  // tokens
  std::set<std::string> bad;   // tokens and sessions
  std::uint8_t made = 0;       // of what passes for chance
};

class Krond {
 public:
  Krond(Promised& promised, PowerCutFileSystem& files)
      : promised_(promised), store_({files, "/state"}, clock_, log_, [this](std::size_t count) {
          std::string bytes(count, '\0');
          for (char& byte : bytes) byte = static_cast<char>(++promised_.made);
          return bytes;
        }) {}

  // False: the power has gone.
  bool create(const std::string& name) {
    const auto made = store_.create({.name = name, .role = Right::read, .expires_at = {}, .by = "root"});
    if (made) promised_.good.insert(made->token);
    return made.has_value();
  }
  bool revoke_first() {
    if (promised_.good.empty()) return true;
    const std::string token = *promised_.good.begin();
    promised_.good.erase(token);  // from when it is asked for, nobody knows
    if (!store_.revoke(token.substr(5, 8))) return false;
    promised_.bad.insert(token);
    return true;
  }
  bool log_out() {
    if (promised_.good.empty()) return true;
    const auto opened = store_.open_session(*promised_.good.begin());
    if (!opened || !store_.end_session(opened->text)) return false;
    promised_.bad.insert(opened->text);
    return true;
  }
  bool end_sessions() {
    if (promised_.good.empty()) return true;
    const auto opened = store_.open_session(*promised_.good.begin());
    if (!opened || !store_.end_sessions()) return false;
    promised_.bad.insert(opened->text);
    return true;
  }
  AccessStore& store() { return store_; }

 private:
  Promised& promised_;
  testing::FakeClock clock_{testing::utc("2026-03-01T00:00:00Z")};
  testing::SilentLog log_;
  AccessStore store_;
};

void some_days(Promised& promised, PowerCutFileSystem& files) {
  if (!open_or_make_directory(files, "/state", 0700)) return;
  Krond krond(promised, files);
  (void)(krond.create("a") && krond.create("b") && krond.log_out() && krond.revoke_first() && krond.end_sessions() &&
         krond.create("c"));
}

void go_on(Promised& promised, PowerCutFileSystem& files, Crash /*crash*/) {
  if (!open_or_make_directory(files, "/state", 0700)) return;
  Krond krond(promised, files);
  (void)(krond.create("later " + std::to_string(promised.made)) && krond.revoke_first());
}

std::string broken_promise(Promised& promised, PowerCutFileSystem& files) {
  if (!open_or_make_directory(files, "/state", 0700)) return "the directory cannot be opened";
  Krond krond(promised, files);
  if (const auto problem = krond.store().problem()) return "cannot be read: " + problem->message;
  for (const std::string& token : promised.good) {
    if (!krond.store().who_has(token)) return "lost: " + token;
  }
  for (const std::string& shown : promised.bad) {
    if (krond.store().who_has(shown)) return "came back: " + shown;
  }
  return "";
}

SweepCounts sweep_access(Sabotage sabotage = Sabotage::none) {
  const auto most = static_cast<std::size_t>(testing::scaled(8));
  const bool is_whole = sabotage == Sabotage::none;
  const SweepOptions options{.most_survivors = is_whole ? std::vector{most, std::size_t{2}} : std::vector{most},
                             .sabotage = sabotage};
  return Sweep<Promised>(some_days, go_on, broken_promise, options)({});
}

TEST(AccessPowerCut, NoTokenIsLostAndNoneComesBack) {
  const SweepCounts counts = sweep_access();
  EXPECT_EQ(counts.violations, 0U) << counts;
  EXPECT_GT(counts.power_cuts, 100U);
}

TEST(AccessPowerCut, TheSweepNoticesWhenASyncIsLeftOut) {
  EXPECT_GT(sweep_access(Sabotage::no_file_sync).violations, 0U);
  EXPECT_GT(sweep_access(Sabotage::no_directory_sync).violations, 0U);
}

}  // namespace
}  // namespace kron::api::access_power_cut_test
