#include "kron/forecast/log_line.h"

#include <gtest/gtest.h>

#include "kron/base/rfc3339.h"
#include "kron/core/sample_jobs.h"

namespace kron {
namespace {

const Job& backup() {
  static const Job job =
      testing::make_job({.schedule = "0 0 * * *", .window = "3h", .identity = "it's \"a\\b\" {x}", .salt = "s = }"});
  return job;
}
const Instant kNominal = testing::utc("2026-03-01T00:00:00Z");

std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

void expect_reproduced(const std::string& line) {
  ZoneDatabase zones;
  const Result<LoggedDecision> logged = read_log_line(line, zones);
  ASSERT_TRUE(logged.has_value()) << line << ": " << logged.error().message;
  EXPECT_EQ(decide(logged->request.job, logged->request.nominal), decide(backup(), kNominal)) << line;
}

TEST(LogLine, EveryFormReproducesTheDecision) {
  const std::string request = decide_request_json(backup(), kNominal);
  const std::string quoted_request = JsonWriter().text(request).take();
  expect_reproduced(request);
  expect_reproduced("  " + request + "\n");
  expect_reproduced("2026-03-01 info run_started identity=x decision=" + in_quotes(request) + " pid=3");
  expect_reproduced("run_started decision=" + request + " pid=3");
  expect_reproduced(R"({"event":"run_started","decision":)" + quoted_request + "}");
  expect_reproduced(R"({"event":"run_started","decision":)" + request + "}");
}

TEST(LogLine, WhatWasLoggedIsReadBeside) {
  ZoneDatabase zones;
  const std::string request = decide_request_json(backup(), kNominal);
  const auto text = read_log_line("chosenTime=A seedHash=\"B\" decision=" + in_quotes(request), zones);
  EXPECT_EQ(text->chosen_time + text->seed_hash, "AB");
  const auto json = read_log_line(R"({"chosenTime":"A","seedHash":"B","decision":)" + request + "}", zones);
  EXPECT_EQ(json->chosen_time + json->seed_hash, "AB");
}

TEST(LogLine, BadLinesSayWhatIsMissing) {
  ZoneDatabase zones;
  for (const char* line : {"", "run_ended identity=x", "[]", "{}", "decision=", "decision=\"", "decision={\"a\":"}) {
    const auto logged = read_log_line(line, zones);
    ASSERT_FALSE(logged.has_value()) << line;
    EXPECT_EQ(logged.error().field.substr(0, 8), "decision") << line;
  }
}

}  // namespace
}  // namespace kron
