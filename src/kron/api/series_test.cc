#include "kron/api/series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/api/fake/api_rig.h"

namespace kron::api {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using ::testing::HasSubstr;

const Instant kTen = testing::utc("2026-03-01T10:00:00Z");

class SeriesTest : public ::testing::Test {
 protected:
  // The last three minutes of some series.
  std::string three(const std::string& names, Instant now, Seconds step = Seconds(60)) const {
    const std::string json = series_.json(Series::names_in(names).value(), 3 * step, step, now);
    return json.substr(json.find("\"series\":") + 9, json.size() - json.find("\"series\":") - 10);
  }

  Series series_{kTen};
};

TEST_F(SeriesTest, EachMinuteHasWhatHappenedInIt) {
  series_.started(kTen, milliseconds(4));
  series_.started(kTen + Seconds(59), std::nullopt);
  series_.ended(kTen + Seconds(60), '+');
  series_.ended(kTen + Seconds(61), 'x');
  series_.ended(kTen + Seconds(62), 't');
  series_.ended(kTen + Seconds(63), 'm');
  const Instant now = kTen + minutes(2);
  EXPECT_EQ(three("starts", now), R"({"starts":[2,0,0]})");
  EXPECT_EQ(three("succeeded,failed,timedOut,missed,skipped", now),
            R"({"succeeded":[0,1,0],"failed":[0,1,0],"timedOut":[0,1,0],"skipped":[0,0,0],"missed":[0,1,0]})");
  EXPECT_EQ(series_.json(Series::names_in("starts").value(), minutes(4), minutes(2), now),
            R"({"from":"2026-03-01T10:00:00Z","stepSeconds":120,"points":2,"series":{"starts":[2,0]}})");
}

TEST_F(SeriesTest, DelaysAreToldToWithinAFactorOfAboutOneAndAHalf) {
  for (int i = 0; i < 98; ++i) series_.started(kTen, milliseconds(10));
  series_.started(kTen, milliseconds(3000));
  series_.started(kTen, milliseconds(3000));
  EXPECT_EQ(three("delayP50", kTen), R"({"delayP50":[null,null,0.011314]})");
  EXPECT_EQ(three("delayP99", kTen), R"({"delayP99":[null,null,4.096]})");
  series_.started(kTen + minutes(1), milliseconds(-5));
  series_.started(kTen + minutes(2), std::chrono::hours(100));
  EXPECT_EQ(three("delayP50", kTen + minutes(2)), R"({"delayP50":[0.011314,0.001,11863.283203]})");
}

TEST_F(SeriesTest, WhatRunsGoesOnUntilItIsToldAgain) {
  series_.set_running(kTen, 3);
  series_.set_pending(kTen, 7);
  EXPECT_EQ(three("running,tasksPending", kTen + minutes(2)), R"({"running":[3,3,3],"tasksPending":[7,7,7]})");
  series_.set_running(kTen + minutes(2), 1);
  EXPECT_EQ(three("running", kTen + minutes(3)), R"({"running":[3,3,1]})") << "the most of each minute";
}

TEST_F(SeriesTest, OfTheTimeBeforeOnlyStartsAreKnown) {
  series_.started(kTen, std::nullopt);
  series_.add_earlier(kTen - minutes(1), 5);
  series_.add_earlier(kTen + minutes(1), 9);  // that is ours
  EXPECT_EQ(three("starts,succeeded,running,delayP50", kTen + minutes(1)),
            R"({"starts":[5,1,0],"succeeded":[null,0,0],"delayP50":[null,null,null],"running":[null,0,0]})");
}

TEST_F(SeriesTest, ADayLaterAMinuteIsGone) {
  series_.started(kTen, std::nullopt);
  const auto first_of_day = [&](Instant now) {
    return series_.json(Series::names_in("starts").value(), std::chrono::hours(24), std::chrono::hours(24), now);
  };
  series_.set_running(kTen + minutes(1439), 0);
  EXPECT_THAT(series_.json(Series::names_in("starts").value(), minutes(1440), minutes(1), kTen + minutes(1439)),
              HasSubstr("\"starts\":[1,0"));
  series_.set_running(kTen + minutes(1440), 0);
  EXPECT_THAT(first_of_day(kTen + minutes(1440)), HasSubstr("\"starts\":[0]"));
  // A clock that jumps far, and back.
  series_.started(kTen + std::chrono::hours(24 * 365), std::nullopt);
  series_.started(kTen, std::nullopt);
  EXPECT_EQ(three("starts", kTen + std::chrono::hours(24 * 365)), R"({"starts":[0,0,1]})");
}

using SeriesPaths = ApiRig;

TEST_F(SeriesPaths, TellADayInMinutesUnlessAskedOtherwise) {
  const http::Response all = ask("GET", "/api/v1/series");
  EXPECT_EQ(all.status, 200);
  EXPECT_THAT(all.body, HasSubstr("\"stepSeconds\":60,\"points\":1440,\"series\":{\"starts\":[0,"));
  EXPECT_THAT(ask("GET", "/api/v1/series?names=running&for=1h&step=10m").body,
              HasSubstr("\"points\":6,\"series\":{\"running\":["));
  for (const char* wrong :
       {"names=x", "names=starts,", "for=25h", "for=30s", "step=90s", "for=1h&step=7m", "step=0s"}) {
    EXPECT_EQ(ask("GET", std::string("/api/v1/series?") + wrong).status, 400) << wrong;
  }
}

}  // namespace
}  // namespace kron::api
