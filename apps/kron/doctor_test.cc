#include "doctor.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "fake_krond.h"
#include "host_check.h"
#include "kron/base/rfc3339.h"
#include "kron/env/fake/silent_log.h"
#include "kron/env/real_file_system.h"
#include "kron/json/document.h"
#include "kron/ledger/file_ledger.h"

// What `kron doctor` finds amiss, part by part.
namespace kron::cli {
namespace {

Instant time_of_day(const char* text) { return *parse_rfc3339(text); }
const Instant kNow = time_of_day("2026-03-01T00:00:00Z");

// "problem what" of each, and what to do.
std::vector<std::string> told(const Findings& findings) {
  std::vector<std::string> lines;
  for (const Finding& finding : findings) {
    const char* verdict = finding.verdict == Verdict::ok        ? "ok"
                          : finding.verdict == Verdict::warning ? "warning"
                                                                : "problem";
    lines.push_back(std::string(verdict) + " " + finding.about + " " + finding.what + " => " + finding.cure);
  }
  return lines;
}

std::vector<std::string> of_krond(const std::string& members) {
  FakeKrond krond;
  krond.on("GET /status?changes=true", R"({"pid":7,"jobs":3,"ready":true)" + members + "}");
  Findings findings;
  examine_socket(krond.socket(), findings);
  return told(findings);
}

TEST(DoctorOfTheSocket, AKrondThatAnswersSaysWhereItsThingsAre) {
  FakeKrond krond;
  krond.on("GET /status?changes=true",
           R"({"version":"1","pid":7,"jobs":3,"ready":true,"stateDirectory":"/s","config":["/c",3],)"
           R"("clockOffsetSeconds":-90.5})");
  Findings findings;
  const DaemonFacts facts = examine_socket(krond.socket(), findings);
  EXPECT_TRUE(facts.answers);
  EXPECT_FALSE(facts.in_cluster);
  EXPECT_EQ(facts.state_directory, "/s");
  EXPECT_EQ(facts.config, std::vector<std::string>{"/c"});
  EXPECT_EQ(facts.clock_offset, Seconds(-90));
  EXPECT_THAT(told(findings), Contains(HasSubstr("krond 1 answers, PID 7, 3 jobs")));
  EXPECT_THAT(told(findings), Contains(HasSubstr("shifted by -90.5 seconds")));
}

TEST(DoctorOfTheSocket, WhatKrondSaysOfItselfIsJudged) {
  EXPECT_THAT(of_krond(R"(,"version":"0.0.0")"), Contains(AllOf(HasSubstr("warning"), HasSubstr("is version 0.0.0"))));
  EXPECT_THAT(of_krond(R"(,"stopping":true)"), Contains(HasSubstr("krond is about to end")));
  EXPECT_THAT(of_krond(R"(,"jobFiles":{"readAt":"R","changed":[{"file":"f","change":"changed"}],)"
                       R"("reloadError":"no directory"})"),
              AllOf(Contains(HasSubstr("f: changed on disk since krond read it at R => `kron reload`")),
                    Contains(AllOf(HasSubstr("problem config"), HasSubstr("no directory")))));
  FakeKrond krond;
  krond.on("GET /status?changes=true", R"({"ready":false})");
  Findings findings;
  examine_socket(krond.socket(), findings);
  EXPECT_THAT(told(findings), Contains(HasSubstr("problem socket krond is not ready")));
}

TEST(DoctorOfTheSocket, AClusterIsJudgedByItsLinkAndItsWarnings) {
  const auto lines = of_krond(
      R"(,"cluster":{"redis":"redis://db","linkUp":true,"instance":"h1","warnings":[{"severity":"error","message":"e"},)"
      R"({"severity":"warning","message":"w"}]})");
  EXPECT_THAT(lines, AllOf(Contains(HasSubstr("ok cluster redis://db answers; this krond is h1")),
                           Contains(HasSubstr("problem cluster e")), Contains(HasSubstr("warning cluster w"))));
  EXPECT_THAT(of_krond(R"(,"cluster":{"redis":"r","linkUp":false,"notReady":"Redis does not answer"})"),
              Contains(HasSubstr("problem cluster Redis does not answer")));
}

TEST(DoctorOfTheSocket, WhatIsNoKrondIsToldForWhatItIs) {
  const testing::TemporaryDirectory directory;
  Findings none;
  EXPECT_FALSE(examine_socket(directory.file("no.sock"), none).answers);
  EXPECT_THAT(told(none), Contains(AllOf(HasSubstr("problem"), HasSubstr("is not there"))));
  std::ofstream(directory.file("file")) << "";
  Findings file;
  EXPECT_FALSE(examine_socket(directory.file("file"), file).answers);
  EXPECT_THAT(told(file), Contains(HasSubstr("is no socket")));
  FakeKrond refusing;
  refusing.refuse("GET /status?changes=true", {Code::refused, "you may not"});
  Findings refused;
  EXPECT_FALSE(examine_socket(refusing.socket(), refused).answers);
  EXPECT_THAT(told(refused), Contains(HasSubstr("you may not => ask as root")));
  FakeKrond odd;
  odd.on("GET /status?changes=true", "not json");
  Findings nonsense;
  EXPECT_FALSE(examine_socket(odd.socket(), nonsense).answers);
  EXPECT_THAT(told(nonsense), Contains(HasSubstr("problem")));
}

TEST(DoctorOfTheClock, AClockOfAnotherAgeIsAProblem) {
  for (const char* time : {"1970-01-01T00:00:00Z", "2025-12-31T23:59:59Z", "2100-01-01T00:00:01Z"}) {
    Findings findings;
    examine_clock(time_of_day(time), findings);
    EXPECT_THAT(told(findings), Contains(AllOf(HasSubstr("problem clock"), HasSubstr("can hardly be")))) << time;
  }
  Findings present;
  examine_clock(kNow, present);
  ASSERT_EQ(present.size(), 1U);
  EXPECT_NE(present.front().verdict, Verdict::problem);
}

TEST(DoctorOfTheZones, ADirectoryWithoutZonesIsAProblem) {
  const testing::TemporaryDirectory empty;
  Findings findings;
  {
    const Variable zones("TZDIR", empty.path().c_str());
    examine_zones(findings);
  }
  EXPECT_THAT(told(findings), Contains(AllOf(HasSubstr("problem zones"), HasSubstr("install tzdata"))));
}

class DoctorOfFiles : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text, mode_t mode = 0600) const {
    std::ofstream(directory_.file(name)) << text;
    ::chmod(directory_.file(name).c_str(), mode);
    return directory_.file(name);
  }
  std::vector<std::string> of_config(const std::string& path) {
    Findings findings;
    jobs_ = examine_config({&path, 1}, kNow, findings);
    return told(findings);
  }
  std::vector<std::string> of_state(const std::string& path) const {
    Findings findings;
    examine_state(path, jobs_, kNow, findings);
    return told(findings);
  }

  testing::TemporaryDirectory directory_;
  ConfiguredJobs jobs_;
};

TEST_F(DoctorOfFiles, ConfigThatIsInOrder) {
  const auto lines =
      of_config(file("a.kron", "0 0 * * * name=a command=/bin/true\n0 1 * * * name=b command=/bin/true\n"));
  EXPECT_THAT(lines, Contains(HasSubstr("2 valid jobs")));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("problem"))));
  EXPECT_EQ(jobs_.size(), 2U);
}

TEST_F(DoctorOfFiles, ConfigWithErrorsShowsTheFirstTenAndTheirCount) {
  std::string text;
  for (int i = 0; i < 12; ++i) text += "nonsense\n";
  const auto lines = of_config(file("a.kron", text));
  EXPECT_EQ(std::ranges::count_if(lines,
                                  [](const std::string& line) {
                                    return line.find("error") == std::string::npos &&
                                           line.starts_with("problem config");
                                  }),
            10);
  EXPECT_THAT(lines, Contains(HasSubstr("36 errors in all")));
}

TEST_F(DoctorOfFiles, ConfigThatIsNotThereOrEmptyOrWritable) {
  EXPECT_THAT(of_config(directory_.file("nowhere")), Contains(AllOf(HasSubstr("problem"), HasSubstr("--config"))));
  EXPECT_THAT(of_config(file("empty.kron", "")), Contains(AllOf(HasSubstr("warning"), HasSubstr("there is no job"))));
  EXPECT_THAT(of_config(file("open.kron", "0 0 * * * name=a command=/bin/true\n", 0666)),
              Contains(HasSubstr("problem")));
}

TEST_F(DoctorOfFiles, AJobThatThisHostCannotRunIsAWarning) {
  const auto lines = of_config(file("a.kron",
                                    "0 0 * * * name=a command=/no/such/program\n"
                                    "0 0 * * * name=b command=no-such-program-anywhere\n"
                                    "0 0 * * * name=c user=nobody-of-this-name command=/bin/true\n"
                                    "0 0 * * * name=d cwd=/no/such/directory command=/bin/true\n"
                                    "0 0 * * * name=e command=/etc\n"));
  EXPECT_THAT(lines, Contains(HasSubstr("'a' cannot run on this host: there is no program '/no/such/program'")));
  EXPECT_THAT(lines,
              Contains(HasSubstr("'b' cannot run on this host: there is no program 'no-such-program-anywhere'")));
  EXPECT_THAT(lines, Contains(HasSubstr("'c' cannot run on this host: ")));
  EXPECT_THAT(lines, Contains(HasSubstr("'d' cannot run on this host: there is no directory '/no/such/directory'")));
  EXPECT_THAT(lines, Contains(HasSubstr("'e' cannot run on this host: '/etc' cannot be executed")));
}

TEST_F(DoctorOfFiles, StateThatIsNotThereOrNoDirectoryOrOpenToOthers) {
  EXPECT_THAT(of_state(directory_.file("nowhere")), Contains(AllOf(HasSubstr("warning"), HasSubstr("--state-dir"))));
  EXPECT_THAT(of_state(file("file", "")), Contains(HasSubstr("is no directory")));
  std::filesystem::create_directories(directory_.file("open"));
  ::chmod(directory_.file("open").c_str(), 0755);
  EXPECT_THAT(of_state(directory_.file("open")), Contains(AllOf(HasSubstr("warning"), HasSubstr("open to others"))));
  ::chmod(directory_.file("open").c_str(), 0777);
  EXPECT_THAT(of_state(directory_.file("open")), Contains(AllOf(HasSubstr("problem"), HasSubstr("chmod 700"))));
}

TEST_F(DoctorOfFiles, StateTellsWhoWorksOnItAndWhatIsDamaged) {
  const std::string state = directory_.file("state");
  std::filesystem::create_directories(state);
  ::chmod(state.c_str(), 0700);
  EXPECT_THAT(of_state(state), Contains(HasSubstr("no krond has worked here yet")));
  RealFileSystem files;
  testing::SilentLog log;
  {
    const auto ledger = FileLedger::open(files, state, log).value();
    EXPECT_THAT(of_state(state), Contains(HasSubstr("works on it")));
  }
  EXPECT_THAT(of_state(state), Contains(HasSubstr("no krond works on it now")));
  std::ofstream(state + "/" + std::string(64, 'a') + ".json") << "{";
  std::ofstream(state + "/x.corrupt.1") << "";
  const auto lines = of_state(state);
  EXPECT_THAT(lines, Contains(HasSubstr("1 damaged files were set aside")));
  EXPECT_THAT(lines, Contains(HasSubstr("from the future"))) << "the files are younger than the doctor's clock";
}

TEST_F(DoctorOfFiles, TheHelperIsThereOrIsNot) {
  Findings findings;
  examine_helper("/bin/true", findings);
  examine_helper(directory_.file("nowhere"), findings);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].verdict, Verdict::ok);
  EXPECT_EQ(findings[1].verdict, Verdict::problem);
}

TEST_F(DoctorOfFiles, TheVerbSumsUpAndItsStatusIsOneForAProblem) {
  const std::string state = directory_.file("state");
  std::filesystem::create_directories(state);
  ::chmod(state.c_str(), 0700);
  const Ran ran = testing::kron({"doctor", "--state-dir", state, "--config",
                                 file("a.kron", "0 0 * * * name=a command=/bin/true\n"), "--helper", "/bin/true"});
  EXPECT_EQ(ran.status, 1) << "no krond runs";
  EXPECT_THAT(ran.out, AllOf(HasSubstr("problem  socket"), HasSubstr("ok       config"), HasSubstr("ok       helper"),
                             Not(HasSubstr("\x1b"))));
  const Ran json = testing::kron({"doctor", "--state-dir", state, "--config", directory_.file("a.kron"), "--helper",
                                  "/bin/true", "--format", "json"});
  EXPECT_EQ(json.status, 1);
  const Node document = parse_json(json.out).value();
  EXPECT_GE(*document.find("problems")->as<std::int64_t>(), 1);
  EXPECT_FALSE(document.find("findings")->as<Node::List>()->empty());
}

TEST(HostCheck, AUserThatIsNoProgram) {
  EXPECT_TRUE(is_only_a_user("root"));
  for (const char* word : {"", "sh", "true", "/bin/root", "nobody-of-this-name"})
    EXPECT_FALSE(is_only_a_user(word)) << word;
}

}  // namespace
}  // namespace kron::cli
