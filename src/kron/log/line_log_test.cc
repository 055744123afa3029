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
  EXPECT_EQ(text({{"decision", LogJson{kRequest}}}),
            "2026-03-01T00:00:00.007Z info run_started decision=" + std::string(kRequest));
  EXPECT_EQ(json({{"decision", LogJson{kRequest}}}),
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

// As the scheduler writes it.
void start_run(LineLog& log, std::string_view chosen) {
  log.error("run_started", {{"identity", "a"},
                            {"periodId", "2026-03-01T00:00:00Z"},
                            {"nominalTime", "2026-03-01T00:00:00Z"},
                            {"chosenTime", chosen},
                            {"outcome", "executed"},
                            {"seedHash", "1234"},
                            {"runId", "r1"},
                            {"pid", 42},
                            {"decision", LogJson{kRequest}}});
}

TEST_F(LineLogOnAPipe, AStartIsShortInText) {
  LineLog log(ends_[1], clock_, LogFormat::text, LogLevel::info);
  start_run(log, "2026-03-01T00:00:00Z");
  EXPECT_EQ(written(),
            "2026-03-01T00:00:00.000Z error run_started identity=a periodId=2026-03-01T00:00:00Z runId=r1\n");
  start_run(log, "2026-03-01T00:00:07Z");
  EXPECT_EQ(written(),
            "2026-03-01T00:00:00.000Z error run_started identity=a periodId=2026-03-01T00:00:00Z "
            "chosenTime=2026-03-01T00:00:07Z runId=r1\n");
}

TEST_F(LineLogOnAPipe, AStartHasEverythingAtDebugAndInJson) {
  LineLog text(ends_[1], clock_, LogFormat::text, LogLevel::debug);
  start_run(text, "2026-03-01T00:00:00Z");
  EXPECT_EQ(written(),
            "2026-03-01T00:00:00.000Z error run_started identity=a periodId=2026-03-01T00:00:00Z "
            "nominalTime=2026-03-01T00:00:00Z chosenTime=2026-03-01T00:00:00Z outcome=executed seedHash=1234 runId=r1 "
            "pid=42 decision=" +
                std::string(kRequest) + "\n");
  LineLog json(ends_[1], clock_, LogFormat::json, LogLevel::info);
  start_run(json, "2026-03-01T00:00:00Z");
  EXPECT_EQ(written(),
            R"({"ts":"2026-03-01T00:00:00.000Z","level":"error","event":"run_started","identity":"a",)"
            R"("periodId":"2026-03-01T00:00:00Z","nominalTime":"2026-03-01T00:00:00Z",)"
            R"("chosenTime":"2026-03-01T00:00:00Z","outcome":"executed","seedHash":"1234","runId":"r1","pid":42,)"
            R"("decision":)" +
                std::string(kRequest) + "}\n");
}

TEST_F(LineLogOnAPipe, LeavesOutWhatIsBelowItsLevel) {
  LineLog log(ends_[1], clock_, LogFormat::text, LogLevel::error);
  log.warning("b", {});
  log.flush();
  EXPECT_EQ(written(), "");
}

// A pipe that holds little, as those have that share it: a write that finds it full would wait for ever.
class LogNobodyReads : public ::testing::Test {
 protected:
  LogNobodyReads() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    ::fcntl(ends[1], F_SETPIPE_SZ, 4096);
    read_ = Descriptor(ends[0]);
    write_ = Descriptor(ends[1]);
    ::fcntl(read_.get(), F_SETFL, O_NONBLOCK);
  }

  // Numbered lines, a hundred more than are kept.
  int write_beyond_the_limit(LineLog& log) const {
    const std::string padding(1000, '.');
    const int count = static_cast<int>(LineLog::kMostKept / padding.size()) + 100;
    for (int i = 0; i < count; ++i) log.warning("line", {{"number", i}, {"padding", padding}});
    return count;
  }

  // Reads and flushes in turns until nothing comes any more.
  std::vector<std::string> read_lines(LineLog& log) const {
    std::string all;
    for (bool is_done = false; !is_done;) {
      is_done = log.flush() == LineLog::Left::nothing;
      char bytes[4096];
      for (ssize_t size = ::read(read_.get(), bytes, sizeof bytes); size > 0;
           size = ::read(read_.get(), bytes, sizeof bytes)) {
        all.append(bytes, static_cast<std::size_t>(size));
      }
    }
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < all.size();) {
      const std::size_t end = all.find('\n', at);
      lines.push_back(all.substr(at, end - at));
      at = end == std::string::npos ? all.size() : end + 1;
    }
    return lines;
  }

  static bool is_numbered(const std::string& line, int number) {
    return line.find(" warning line number=" + std::to_string(number) + " ") != std::string::npos;
  }

  Descriptor read_;
  Descriptor write_;
  testing::FakeClock clock_{*parse_rfc3339("2026-03-01T00:00:00Z")};
};

TEST_F(LogNobodyReads, HoldsNobodyUpAndSaysHowMuchIsMissing) {
  LineLog log(write_.get(), clock_, LogFormat::text, LogLevel::info);
  const int written = write_beyond_the_limit(log);
  std::thread([&] { log.error("from_another_thread", {}); }).join();
  const std::vector<std::string> lines = read_lines(log);
  ASSERT_LT(lines.size(), static_cast<std::size_t>(written));
  const int kept = static_cast<int>(lines.size()) - 1;
  for (int i = 0; i < kept; ++i) EXPECT_TRUE(is_numbered(lines[static_cast<std::size_t>(i)], i)) << i;
  EXPECT_EQ(lines.back(),
            "2026-03-01T00:00:00.000Z warning log_lines_dropped count=" + std::to_string(written + 1 - kept) +
                " reason=\"nobody read the log, or it could not be written\"");
}

TEST_F(LogNobodyReads, KeepsAsMuchAsItSaysAndNoMore) {
  LineLog log(write_.get(), clock_, LogFormat::text, LogLevel::info);
  write_beyond_the_limit(log);
  std::size_t bytes = 0;
  for (const std::string& line : read_lines(log)) bytes += line.size() + 1;
  EXPECT_GT(bytes, LineLog::kMostKept - 2000);
  EXPECT_LT(bytes, LineLog::kMostKept + 4096 + 2000);
}

TEST_F(LogNobodyReads, GoesOnAsBeforeWhenItIsReadAgain) {
  LineLog log(write_.get(), clock_, LogFormat::text, LogLevel::info);
  for (int round = 0; round < 2; ++round) {
    write_beyond_the_limit(log);
    EXPECT_NE(read_lines(log).back().find("log_lines_dropped"), std::string::npos);
    log.info("after", {});
    EXPECT_EQ(read_lines(log), std::vector<std::string>{"2026-03-01T00:00:00.000Z info after"});
  }
}

TEST_F(LogNobodyReads, SaysWhetherItsReaderTookSomething) {
  LineLog log(write_.get(), clock_, LogFormat::text, LogLevel::info);
  EXPECT_EQ(log.flush(), LineLog::Left::nothing);
  write_beyond_the_limit(log);
  EXPECT_EQ(log.flush(), LineLog::Left::stuck);
  char bytes[4096];
  ASSERT_GT(::read(read_.get(), bytes, sizeof bytes), 0);
  EXPECT_EQ(log.flush(), LineLog::Left::moving);
  EXPECT_EQ(log.flush(), LineLog::Left::stuck);
}

TEST_F(LogNobodyReads, TheEndWaitsForItsReaderOnlySoLong) {
  LineLog log(write_.get(), clock_, LogFormat::text, LogLevel::info);
  write_beyond_the_limit(log);
  EXPECT_FALSE(log.finish(std::chrono::milliseconds(1)));
  read_lines(log);
  log.info("last", {});
  EXPECT_TRUE(log.finish(std::chrono::milliseconds(1)));
}

TEST(LineLogOnAFullDisk, CountsWhatIsLost) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  const Descriptor read(ends[0]);
  const Descriptor pipe(ends[1]);
  const Descriptor out(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  const testing::FakeClock clock(*parse_rfc3339("2026-03-01T00:00:00Z"));
  LineLog log(out.get(), clock, LogFormat::json, LogLevel::info);
  log.error("a", {});
  log.info("b", {});
  log.info("c", {});
  log.flush();
  ASSERT_GE(::dup2(pipe.get(), out.get()), 0);  // as if somebody had made room
  log.error("d", {});
  char bytes[4096];
  const ssize_t size = ::read(read.get(), bytes, sizeof bytes);
  ASSERT_GT(size, 0);
  EXPECT_EQ(std::string(bytes, static_cast<std::size_t>(size)),
            R"({"ts":"2026-03-01T00:00:00.000Z","level":"warning","event":"log_lines_dropped","count":3,)"
            R"("reason":"nobody read the log, or it could not be written"})"
            "\n"
            R"({"ts":"2026-03-01T00:00:00.000Z","level":"error","event":"d"})"
            "\n");
}

}  // namespace
}  // namespace kron
