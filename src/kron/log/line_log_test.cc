#include "kron/log/line_log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "kron/base/rfc3339.h"
#include "kron/env/fake/fake_clock.h"

namespace kron {
namespace {

constexpr char kRequest[] = R"({"identity":"a b","periodStart":"2026-03-01T00:00:00Z"})";

const WallTime kTime = *parse_rfc3339("2026-03-01T00:00:00Z") + std::chrono::milliseconds(7);

std::string text(std::initializer_list<LogField> fields) {
  return text_line(kTime, LogLevel::info, "run_started", fields);
}
std::string json(std::initializer_list<LogField> fields) {
  return json_line(kTime, LogLevel::warning, "run_ended", fields);
}

TEST(LogLine, AsTextIsTimeLevelEventAndPairs) {
  EXPECT_EQ(text({{"identity", "db/backup"}, {"pid", 42}}),
            "2026-03-01T00:00:00.007Z info run_started identity=db/backup pid=42");
}

TEST(LogLine, AsTextQuotesWhatWouldBreakAPair) {
  EXPECT_EQ(text({{"reason", "no \"such\"\nfile\\"}}),
            "2026-03-01T00:00:00.007Z info run_started reason=\"no \\\"such\\\"\\nfile\\\\\"");
  EXPECT_EQ(text({{"reason", "a=b"}}), "2026-03-01T00:00:00.007Z info run_started reason=\"a=b\"");
  EXPECT_EQ(text({{"reason", "\x1b[31m \xff"}}), "2026-03-01T00:00:00.007Z info run_started reason=\"?[31m ?\"");
  EXPECT_EQ(text({{"reason", "naïve"}}), "2026-03-01T00:00:00.007Z info run_started reason=naïve");
}

TEST(LogLine, CarriesADecisionThatKronDecideReads) {
  EXPECT_EQ(text({{"decision", kRequest}}),
            "2026-03-01T00:00:00.007Z info run_started decision=" + std::string(kRequest));
  EXPECT_EQ(json({{"decision", kRequest}}),
            R"({"ts":"2026-03-01T00:00:00.007Z","level":"warning","event":"run_ended","decision":)" +
                std::string(kRequest) + "}");
}

TEST(LogLine, AsJsonKeepsNumbersAndEscapesTexts) {
  EXPECT_EQ(json({{"exitCode", 3}, {"reason", "a \"b\"\n"}}),
            R"({"ts":"2026-03-01T00:00:00.007Z","level":"warning","event":"run_ended","exitCode":3,)"
            R"("reason":"a \"b\"\n"})");
}

TEST(LogLine, LeavesOutWhatIsEmpty) {
  EXPECT_EQ(text({{"reason", ""}}), "2026-03-01T00:00:00.007Z info run_started");
  EXPECT_EQ(json({{"reason", ""}}), R"({"ts":"2026-03-01T00:00:00.007Z","level":"warning","event":"run_ended"})");
}

class LineLogOnAPipe : public ::testing::Test {
 protected:
  LineLogOnAPipe() { EXPECT_EQ(::pipe2(ends_, O_CLOEXEC | O_NONBLOCK), 0); }
  ~LineLogOnAPipe() override {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  std::string written() const {
    char bytes[4096];
    const ssize_t size = ::read(ends_[0], bytes, sizeof bytes);
    return size > 0 ? std::string(bytes, static_cast<std::size_t>(size)) : "";
  }

  int ends_[2] = {-1, -1};
  testing::FakeClock clock_{*parse_rfc3339("2026-03-01T00:00:00Z")};
};

TEST_F(LineLogOnAPipe, GathersLinesUntilTheTurnIsOver) {
  LineLog log(ends_[1], clock_, LogFormat::text, LogLevel::info);
  log.info("a", {});
  log.warning("b", {});
  EXPECT_EQ(written(), "");
  log.flush();
  EXPECT_EQ(written(), "2026-03-01T00:00:00.000Z info a\n2026-03-01T00:00:00.000Z warning b\n");
}

TEST_F(LineLogOnAPipe, DoesNotWaitWithAnError) {
  LineLog log(ends_[1], clock_, LogFormat::text, LogLevel::info);
  log.error("disk_full", {});
  EXPECT_EQ(written(), "2026-03-01T00:00:00.000Z error disk_full\n");
}

TEST_F(LineLogOnAPipe, LeavesOutWhatIsBelowItsLevel) {
  LineLog log(ends_[1], clock_, LogFormat::text, LogLevel::error);
  log.warning("b", {});
  log.flush();
  EXPECT_EQ(written(), "");
}

}  // namespace
}  // namespace kron
