#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/api/fake/api_rig.h"
#include "kron/json/document.h"

// Runs, their output, and how they are ended.
namespace kron::api {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::utc;

constexpr char kRunId[] = "0123456789abcdef";

class RunPathsTest : public ApiRig {
 protected:
  history::Entry entry(const std::string& run_id, const char* time = "2026-03-01T00:00:00Z") const {
    return {.job = "c", .outcome = Outcome::executed, .run_id = run_id, .started_at = utc(time)};
  }
  // A run that is over, with that output.
  void add_ended(const std::string& run_id, const std::string& output) {
    history::Entry ended = entry(run_id);
    ended.ended_at = utc("2026-03-01T00:00:09Z");
    ended.exit_code = 0;
    ended.output_bytes = output.size();
    history_->add(ended);
    const std::filesystem::path file = std::filesystem::path(run_files_.path()) / run_id / "output";
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << output;
  }
  std::string output_path(const std::string& run_id = kRunId) const { return "/api/v1/runs/" + run_id + "/output"; }
};

TEST_F(RunPathsTest, ListsNewestFirstAndPageByPage) {
  for (int i = 0; i < 5; ++i) {
    history_->add(
        entry(std::string(15, '0') + std::to_string(i), ("2026-03-01T00:00:0" + std::to_string(i) + "Z").c_str()));
  }
  const Node first = parse_json(ask("GET", "/api/v1/runs?limit=3").body).value();
  ASSERT_EQ(first.find("runs")->as<Node::List>()->size(), 3U);
  EXPECT_EQ(*first.find("runs")->as<Node::List>()->front().find("runId")->as<std::string>(), "0000000000000004");
  const std::string next = std::to_string(*first.find("next")->as<std::int64_t>());
  const Node rest = parse_json(ask("GET", "/api/v1/runs?limit=3&before=" + next).body).value();
  EXPECT_EQ(rest.find("runs")->as<Node::List>()->size(), 2U);
  EXPECT_EQ(rest.find("next"), nullptr);
}

TEST_F(RunPathsTest, EachFilterIsObeyed) {
  history_->add(entry("0000000000000001"));
  history::Entry missed{.job = "d", .outcome = Outcome::missed, .reason = Reason::deadline};
  missed.chosen = utc("2026-03-01T06:00:00Z");
  missed.period = utc("2026-03-01T06:00:00Z");
  history_->add(missed);
  const std::pair<const char*, int> cases[] = {
      {"", 2},
      {"?job=c", 1},
      {"?job=nobody", 0},
      {"?prefix=d", 1},
      {"?outcome=missed", 1},
      {"?outcome=passed%20over", 0},
      {"?result=running", 1},
      {"?result=failed", 0},
      {"?from=2026-03-01T03:00:00Z", 1},
      {"?to=2026-03-01T03:00:00Z", 1},
      {"?from=2026-03-02T00:00:00Z", 0},
  };
  for (const auto& [query, count] : cases) {
    const Node page = parse_json(ask("GET", std::string("/api/v1/runs") + query).body).value();
    EXPECT_EQ(page.find("runs")->as<Node::List>()->size(), static_cast<std::size_t>(count)) << query;
  }
}

TEST_F(RunPathsTest, RunsAreFoundByTheBeginningsOfTheirIds) {
  for (const char* id : {"0f3c000000000001", "0f3c000000000002", "0f3d000000000001"}) history_->add(entry(id));
  const auto count = [&](const std::string& prefix) {
    const Node page = parse_json(ask("GET", "/api/v1/runs?idPrefix=" + prefix).body).value();
    return page.find("runs")->as<Node::List>()->size();
  };
  EXPECT_EQ(count("0f3c"), 2U);
  EXPECT_EQ(count("0f3c000000000001"), 1U);
  EXPECT_EQ(count("0f3e"), 0U);
  for (const char* none : {"", "0f3", "0f3%20", "%2Ff3c", ".f3c"}) {
    EXPECT_EQ(ask("GET", std::string("/api/v1/runs?idPrefix=") + none).status, 400) << none;
  }
}

TEST_F(RunPathsTest, AFilterThatIsNoneIsRefused) {
  for (const char* query : {"outcome=ran", "result=good", "limit=0", "limit=1001", "before=-1", "before=x", "from=x",
                            "to=x", "outcome=", "jobs=c"}) {
    EXPECT_EQ(ask("GET", std::string("/api/v1/runs?") + query).status, 400) << query;
  }
}

TEST_F(RunPathsTest, ARunThatIsNotKnownSaysHowLongRunsAreKept) {
  const auto gone = ask("GET", std::string("/api/v1/runs/") + std::string(32, 'f'));
  EXPECT_EQ(gone.status, 404);
  EXPECT_THAT(gone.body, HasSubstr("krond removes runs and their output after 30d (--keep-runs)"));
  EXPECT_THAT(ask("GET", "/api/v1/runs/no%2Frun%2Fid").body, Not(HasSubstr("--keep-runs"))) << "it never was one";
}

TEST_F(RunPathsTest, TheOutputIsWholeOrAPartOfIt) {
  add_ended(kRunId, "0123456789");
  const auto whole = ask("GET", output_path());
  EXPECT_EQ(whole.body, "0123456789");
  EXPECT_EQ(whole.content_type, "application/octet-stream");
  EXPECT_EQ(whole.header("accept-ranges"), "bytes");
  const std::tuple<const char*, int, const char*, const char*> cases[] = {
      {"bytes=0-0", 206, "0", "bytes 0-0/10"}, {"bytes=7-", 206, "789", "bytes 7-9/10"},
      {"bytes=-2", 206, "89", "bytes 8-9/10"}, {"bytes=5-99", 206, "56789", "bytes 5-9/10"},
      {"bytes=9-9", 206, "9", "bytes 9-9/10"},
  };
  for (const auto& [range, status, body, content_range] : cases) {
    const auto part = ask("GET", output_path(), "", {{"Range", range}});
    EXPECT_EQ(part.status, status) << range;
    EXPECT_EQ(part.body, body) << range;
    EXPECT_EQ(part.header("content-range"), content_range) << range;
  }
  const auto beyond = ask("GET", output_path(), "", {{"Range", "bytes=10-"}});
  EXPECT_EQ(beyond.status, 416);
  EXPECT_EQ(beyond.header("content-range"), "bytes */10");
  const auto head = ask("HEAD", output_path());
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.body, "");
}

TEST_F(RunPathsTest, AnOutputLargerThanOnePieceIsWhole) {
  std::string large(std::size_t{700} << 10U, 'x');
  for (std::size_t i = 0; i < large.size(); i += 1000) large[i] = static_cast<char>('a' + i / 1000 % 26);
  add_ended(kRunId, large);
  EXPECT_EQ(ask("GET", output_path()).body, large);
  EXPECT_EQ(ask("GET", output_path(), "", {{"Range", "bytes=262143-262145"}}).body, large.substr(262143, 3));
}

TEST_F(RunPathsTest, ARunThatWroteNothingHasAnEmptyOutputAndOneThatWasRemovedHasNone) {
  history::Entry silent = entry("00000000000000aa");
  silent.ended_at = silent.started_at;
  history_->add(silent);
  EXPECT_EQ(ask("GET", output_path("00000000000000aa")).status, 200);
  EXPECT_EQ(ask("GET", output_path("00000000000000aa")).body, "");
  history::Entry removed = entry("00000000000000bb");
  removed.ended_at = removed.started_at;
  removed.output_bytes = 5;
  history_->add(removed);
  const auto gone = ask("GET", output_path("00000000000000bb"));
  EXPECT_EQ(gone.status, 404);
  EXPECT_THAT(gone.body, AllOf(HasSubstr("was removed"), HasSubstr("keeps the newest")));
}

TEST_F(RunPathsTest, AnOutputThatIsOverIsFollowedToItsEndAtOnce) {
  add_ended(kRunId, "all of it\n");
  EXPECT_EQ(ask("GET", output_path() + "?follow=true").body, "all of it\n");
  EXPECT_EQ(ask("GET", output_path() + "?follow=yes").status, 400);
}

TEST_F(RunPathsTest, ARunIsEndedByItsSignal) {
  const Node triggered = parse_json(ask("POST", "/api/v1/jobs/c/trigger").body).value();
  const std::string run_id = *triggered.find("runId")->as<std::string>();
  EXPECT_EQ(ask("POST", "/api/v1/runs/" + run_id + "/terminate").body,
            R"({"runId":")" + run_id + R"(","signal":"TERM"})");
  EXPECT_EQ(ask("POST", "/api/v1/runs/" + run_id + "/kill").body, R"({"runId":")" + run_id + R"(","signal":"KILL"})");
  EXPECT_EQ(ask("POST", "/api/v1/runs/nobody/terminate").status, 404);
}

TEST_F(RunPathsTest, AKeyThatARunWasStartedByLongAgoStartsNoSecondOne) {
  const Node first = parse_json(ask("POST", "/api/v1/jobs/c/trigger", "", {{"Idempotency-Key", "k"}}).body).value();
  const std::string run_id = *first.find("runId")->as<std::string>();
  // The record has forgotten it, and its directory is still there.
  std::filesystem::create_directories(std::filesystem::path(run_files_.path()) / run_id);
  do_on_loop([&] {
    EXPECT_TRUE(host_.scheduler->kill(run_id));
    host_.run_for(Seconds(5));
  });
  const auto again = ask("POST", "/api/v1/jobs/c/trigger", "", {{"Idempotency-Key", "k"}});
  EXPECT_THAT(again.body, AllOf(HasSubstr(run_id), HasSubstr("already_known")));
}

TEST_F(RunPathsTest, AKeyWhoseRunWasHeldWhenItsDaemonDiedIsStillToBeRun) {
  const std::string run_id = requested_run_id("c", "k");
  const std::filesystem::path directory = std::filesystem::path(run_files_.path()) / run_id;
  std::filesystem::create_directories(directory);
  std::ofstream(directory / "exit") << "kron-exit 1\nrun=" << run_id << "\nend\n";
  const auto answer = ask("POST", "/api/v1/jobs/c/trigger", "", {{"Idempotency-Key", "k"}});
  EXPECT_THAT(answer.body, AllOf(HasSubstr(run_id), HasSubstr("started")));
}

TEST_F(RunPathsTest, APartOfAnOutputIsNumberedAsItWasWritten) {
  add_ended(kRunId, "[kron: 100 bytes cut here]\nabcdefghij");  // the bytes 100 to 109
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"?tail=3", "107", "hij"},
      {"?tail=0", "110", ""},
      {"?tail=1000", "100", "abcdefghij"},
      {"?from=0", "100", "abcdefghij"},
      {"?from=104", "104", "efghij"},
      {"?from=110", "110", ""},
      {"?from=500", "500", ""},
      {"?from=104&tail=2", "108", "ij"},
      {"?from=108&tail=9", "108", "ij"},
      {"?tail=3&follow=true", "107", "hij"},
  };
  for (const auto& [query, first, body] : cases) {
    const auto answer = ask("GET", output_path() + query);
    EXPECT_EQ(answer.status, 200) << query;
    EXPECT_EQ(answer.header("kron-output-first"), first) << query;
    EXPECT_EQ(answer.body, body) << query;
    EXPECT_EQ(ask("HEAD", output_path() + query).header("kron-output-first"), first) << query;
  }
  for (const char* query : {"?tail=x", "?from=-1", "?tail=", "?from=1.5"}) {
    EXPECT_EQ(ask("GET", output_path() + query).status, 400) << query;
  }
}

TEST_F(RunPathsTest, APartOfAnOutputThatIsGoneIsNotEmpty) {
  history::Entry ended = entry(kRunId);
  ended.ended_at = utc("2026-03-01T00:00:09Z");
  history_->add(ended);
  EXPECT_EQ(ask("GET", output_path() + "?tail=5").body, "") << "it wrote nothing";
  history::Entry gone = entry("fedcba9876543210");
  gone.ended_at = ended.ended_at;
  gone.output_bytes = 9;
  history_->add(gone);
  EXPECT_EQ(ask("GET", output_path("fedcba9876543210") + "?tail=5").status, 404);
}

}  // namespace
}  // namespace kron::api
