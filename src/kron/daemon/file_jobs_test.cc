#include "kron/daemon/file_jobs.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

#include "kron/http/fake/server_rig.h"
#include "kron/scheduler/fake/host.h"
#include "kron/testing/temporary_directory.h"

// The jobs of files on a scheduler in a made-up world.
namespace kron::daemon {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class FileJobsTest : public ::testing::Test {
 protected:
  FileJobsTest() {
    EXPECT_TRUE(host_.start_daemon());  // without jobs
    options_.config = {directory_.path()};
  }

  void write(const std::string& name, const std::string& text, mode_t mode = 0600) const {
    std::ofstream(directory_.file(name)) << text;
    ::chmod(directory_.file(name).c_str(), mode);
  }
  static std::string job(const std::string& name) { return "0 12 * * * name=" + name + " command=x\n"; }

  std::unique_ptr<FileJobs> make() {
    return std::make_unique<FileJobs>(FileJobs::World{
        .options = options_,
        .clock = host_.clock,
        .log = log_,
        .mailbox = mailbox_,
        .scheduler = *host_.scheduler,
        .prepare = [this](const auto& jobs) { prepared_ = jobs.size(); },
        .before_reload = [this] { steps_.emplace_back("before"); },
        .after_reload = [this](bool ok) { steps_.emplace_back(ok ? "after, well" : "after, not well"); }});
  }
  // Asks for a reload and sees it done, as the loop would.
  Result<api::ReloadReport> reload(FileJobs& jobs) {
    std::optional<Result<api::ReloadReport>> answer;
    jobs.reload([&](const Result<api::ReloadReport>& report) { answer = report; });
    while (!answer) {
      pollfd polled{.fd = mailbox_.descriptor(), .events = POLLIN, .revents = 0};
      if (::poll(&polled, 1, 60'000) <= 0) return fail(Code::internal, "nobody answers");
      mailbox_.work_off(Seconds(1));
    }
    return *answer;
  }
  std::vector<std::string> running() const {
    std::vector<std::string> names;
    host_.scheduler->each_job([&](const auto& definition) { names.push_back(definition.job.identity); });
    std::ranges::sort(names);
    return names;
  }

  testing::TemporaryDirectory directory_;
  testing::Host host_{testing::utc("2026-03-01T00:00:00Z")};
  testing::CapturingLog log_;
  Mailbox mailbox_;
  Options options_;
  std::size_t prepared_ = 0;
  std::vector<std::string> steps_;
};

TEST_F(FileJobsTest, AreLookedForBeforeAnythingElse) {
  EXPECT_TRUE(make()->check());
  options_.config = {directory_.path(), directory_.file("nowhere")};
  const Status there = make()->check();
  ASSERT_FALSE(there);
  EXPECT_EQ(there.error().code, Code::unreadable);
  EXPECT_THAT(there.error().message, AllOf(HasSubstr("nowhere"), HasSubstr("--config")));
}

TEST_F(FileJobsTest, StartWithWhatIsInOrder) {
  write("a.kron", job("a"));
  write("b.kron", "nonsense\n" + job("b"));
  const auto jobs = make();
  bool asked = false;
  EXPECT_TRUE(jobs->start([&]() -> std::optional<Instant> {
    asked = true;
    return std::nullopt;
  }));
  EXPECT_TRUE(asked) << "what became due during a planned restart";
  EXPECT_THAT(running(), ElementsAre("a", "b"));
  EXPECT_EQ(prepared_, 2U);
  ASSERT_EQ(jobs->status().refused.size(), 1U);
  EXPECT_EQ(jobs->status().refused.front().in_force, api::RefusedFile::InForce::rest);
  EXPECT_EQ(log_.lines_of("job_file_problem").front().field("path"), directory_.file("b.kron") + ":1:1");
  EXPECT_THAT(log_.lines_of("no_jobs"), IsEmpty());
}

TEST_F(FileJobsTest, WithoutAnyJobItSaysSo) {
  EXPECT_TRUE(make()->start([] { return std::optional<Instant>(); }));
  EXPECT_EQ(log_.lines_of("no_jobs").size(), 1U);
}

TEST_F(FileJobsTest, AFileThatOthersMayWriteIsRefused) {
  write("a.kron", job("a"), 0666);
  const auto jobs = make();
  EXPECT_TRUE(jobs->start([] { return std::optional<Instant>(); }));
  EXPECT_THAT(running(), IsEmpty());
  EXPECT_EQ(jobs->status().refused.size(), 1U);
}

TEST_F(FileJobsTest, AReloadSaysWhatItDid) {
  write("a.kron", job("a"));
  const auto jobs = make();
  ASSERT_TRUE(jobs->start([] { return std::optional<Instant>(); }));
  write("b.kron", job("b"));
  const auto report = reload(*jobs);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->jobs, 2U);
  EXPECT_THAT(report->kept_files, IsEmpty());
  EXPECT_THAT(running(), ElementsAre("a", "b"));
  EXPECT_THAT(steps_, ElementsAre("before", "after, well"));
  EXPECT_EQ(log_.lines_of("reloaded").front().field("jobs"), "2");
}

TEST_F(FileJobsTest, ABadFileKeepsItsJobsAndTheOthersGoOn) {
  write("a.kron", job("a"));
  write("b.kron", job("b"));
  const auto jobs = make();
  ASSERT_TRUE(jobs->start([] { return std::optional<Instant>(); }));
  write("a.kron", "nonsense\n");
  write("b.kron", job("b2"));
  const auto report = reload(*jobs);
  ASSERT_TRUE(report);
  EXPECT_THAT(report->kept_files, ElementsAre(directory_.file("a.kron")));
  EXPECT_THAT(running(), ElementsAre("a", "b2"));
  EXPECT_THAT(steps_, ElementsAre("before", "after, not well"));
  EXPECT_EQ(jobs->status().refused.front().in_force, api::RefusedFile::InForce::earlier);
  write("a.kron", job("a2"));
  ASSERT_TRUE(reload(*jobs));
  EXPECT_THAT(running(), ElementsAre("a2", "b2"));
  EXPECT_THAT(jobs->status().refused, IsEmpty()) << "what was wrong is forgotten";
}

TEST_F(FileJobsTest, TwoJobsOfOneNameInOneFileAreAnErrorThatNamesBoth) {
  write("a.kron", job("a"));
  const auto jobs = make();
  ASSERT_TRUE(jobs->start([] { return std::optional<Instant>(); }));
  write("a.kron", job("twice") + job("twice"));
  const auto report = reload(*jobs);
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->problems.empty());
  EXPECT_THAT(running(), ElementsAre("a"));
}

TEST_F(FileJobsTest, WhatIsConfiguredIsNotKnownWhileAFileHasErrors) {
  write("a.kron", job("a"));
  const auto jobs = make();
  ASSERT_TRUE(jobs->start([] { return std::optional<Instant>(); }));
  write("b.kron", job("b"));  // not read yet: configured all the same
  auto names = jobs->configured().value();
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  EXPECT_THAT(names, ElementsAre("a", "b"));
  write("b.kron", "nonsense\n");
  const auto refused = jobs->configured();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::refused);
}

TEST_F(FileJobsTest, WhatChangedOnDiskSinceIsKnown) {
  write("a.kron", job("a"));
  const auto jobs = make();
  ASSERT_TRUE(jobs->start([] { return std::optional<Instant>(); }));
  EXPECT_THAT(jobs->status().changes(), IsEmpty());
  write("b.kron", job("b"));
  std::filesystem::remove(directory_.file("a.kron"));
  const auto changes = jobs->status().changes();
  EXPECT_THAT(changes, ElementsAre(api::FileChange{directory_.file("a.kron"), api::FileChange::How::removed},
                                   api::FileChange{directory_.file("b.kron"), api::FileChange::How::added}));
}

}  // namespace
}  // namespace kron::daemon
