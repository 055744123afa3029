#include <gtest/gtest.h>

#include "command_rig.h"
#include "daemon_client.h"
#include "flag_values.h"
#include "kron/testing/property.h"
#include "kron/testing/temporary_directory.h"
#include "lines.h"
#include "progress_line.h"
#include "task_ids.h"
#include "task_place.h"
#include "task_session.h"
#include "terminal.h"

// What the verbs share: lines in and out, targets, times, terminals.
namespace kron::cli {
namespace {

TEST(Target, EncodesWhatPeopleTyped) {
  EXPECT_EQ(Target("jobs").text(), "/api/v1/jobs");
  EXPECT_EQ(Target("jobs").segment("a/b c%").segment("trigger").text(), "/api/v1/jobs/a%2Fb%20c%25/trigger");
  EXPECT_EQ(Target("runs").parameter("a", "1&2").parameter("b", "").parameter("c", "x=y").text(),
            "/api/v1/runs?a=1%262&c=x%3Dy");
  EXPECT_EQ(Target("jobs").segment("..").segment("\xff").text(), "/api/v1/jobs/../%FF");
}

TEST(Target, ASegmentNeverMakesAnotherSegmentOrAQuery) {
  testing::for_all(200, [](const std::string& name) {
    const std::string text = Target("jobs").segment(name).text().substr(std::string_view("/api/v1/jobs/").size());
    RC_ASSERT(text.find_first_of("/?#& \n") == std::string::npos);
  });
}

TEST(AnsweredLines, EachLineIsAnsweredWithOne) {
  const auto echo = [](std::string_view line) -> Result<std::string> {
    if (line == "bad") return fail(Code::invalid, "is bad");
    return std::string(line);
  };
  const auto talk = [&](std::string_view input) { return captured([&] { return answer_lines(echo); }, input); };
  EXPECT_EQ(talk("").out, "");
  EXPECT_EQ(talk("a\nb\n").out, "a\nb\n");
  EXPECT_EQ(talk("a\n\nb").out, "a\n\nb\n");
  EXPECT_EQ(talk("\n").out, "\n");
  const Ran bad = talk("a\nbad\nb\n");
  EXPECT_EQ(bad.status, 1);
  EXPECT_THAT(bad.out, AllOf(StartsWith("a\n{\"error\":"), HasSubstr("\nb\n")));
}

TEST(AnsweredLines, ALineMayBeAsLongAsTheLimitAndNotAByteMore) {
  std::size_t seen = 0;
  const auto size = [&](std::string_view line) -> Result<std::string> {
    seen = line.size();
    return std::string("ok");
  };
  const std::string longest(kLongestLine, 'x');
  EXPECT_EQ(captured([&] { return answer_lines(size); }, longest + "\n").out, "ok\n");
  EXPECT_EQ(seen, kLongestLine);
  const Ran longer = captured([&] { return answer_lines(size); }, longest + "x\nshort\n");
  EXPECT_EQ(longer.status, 1);
  EXPECT_THAT(longer.out, AllOf(HasSubstr("longer than"), HasSubstr("\nok\n")));
}

TEST(Complaint, NamesTheVerbTheColumnAndTheField) {
  const auto said = [](const Error& error) { return captured([&] { return complain("next", error); }); };
  EXPECT_EQ(said({Code::invalid, "is wrong"}).err, "kron next: is wrong\n");
  EXPECT_EQ(said({Code::invalid, "is wrong", "--from"}).err, "kron next: --from: is wrong\n");
  EXPECT_EQ(said({Code::invalid, "minute: is wrong", "minute", 3}).err, "kron next: column 3: minute: is wrong\n")
      << "a field that the message names is not named twice";
  for (const Code code : {Code::invalid, Code::not_found, Code::unreadable, Code::unreachable, Code::refused,
                          Code::conflict, Code::io, Code::internal}) {
    EXPECT_EQ(said({code, "x"}).status, exit_status(code));
    EXPECT_EQ(captured([&] { return refuse("v", {code, "x"}, true); }).status, exit_status(code));
  }
  EXPECT_THAT(captured([] {
                return refuse("v", {Code::invalid, "x\n\"y\"", "f"}, true);
              }).out,
              AllOf(StartsWith("{\"error\":{"), HasSubstr(R"(x\n\"y\")")));
}

TEST(FlagValues, ATimeIsGivenOrThePresent) {
  EXPECT_EQ(time_flag("2026-03-01T01:00:00+01:00", "--from").value(),
            time_flag("2026-03-01T00:00:00Z", "--at").value());
  const Instant before = present();
  EXPECT_GE(time_flag("", "--from").value(), before);
  EXPECT_EQ(time_flag("noon", "--from").error().field, "--from");
}

TEST(Terminal, CountsInWords) {
  EXPECT_EQ(counted(0, "job"), "0 jobs");
  EXPECT_EQ(counted(1, "job"), "1 job");
  EXPECT_EQ(counted(2, "job"), "2 jobs");
}

TEST(Terminal, PicturesArePlainWhereTheLocaleIsNotUtf8) {
  const Variable all("LC_ALL", nullptr);
  const Variable ctype("LC_CTYPE", nullptr);
  {
    const Variable lang("LANG", nullptr);
    EXPECT_EQ(for_locale("a→b…█"), "a→b…█") << "none is set, as in most containers";
  }
  for (const char* utf8 : {"en_US.UTF-8", "C.utf8", "de_DE.Utf-8@euro"}) {
    const Variable lang("LANG", utf8);
    EXPECT_EQ(for_locale("→"), "→") << utf8;
  }
  const Variable lang("LANG", "en_US.ISO-8859-1");
  EXPECT_EQ(for_locale("a→b…█×"), "a->b...#x");
  EXPECT_EQ(for_locale("é"), "é") << "names are not ours to change";
  const Variable first("LC_ALL", "C.UTF-8");
  EXPECT_EQ(for_locale("→"), "→") << "LC_ALL goes before LANG";
}

TEST(Terminal, ColoursAreForTerminalsWhoseReaderWantsThem) {
  EXPECT_FALSE(wants_colour(::memfd_create("x", MFD_CLOEXEC)));
  jobs::Problem problem;
  problem.severity = jobs::Severity::error;
  problem.file = "a: error: b.kron";
  problem.at = {1, 2};
  problem.message = "is wrong";
  EXPECT_THAT(shown(problem, false), StartsWith("a: error: b.kron:1:2: error: is wrong"));
  EXPECT_THAT(shown(problem, true), StartsWith("a: error: b.kron:1:2: \x1b[1;31merror\x1b[0m: is wrong"))
      << "the severity, and not what the file is called";
}

TEST(ProgressLine, OneThatIsNotWantedIsNeverShown) {
  const Ran ran = captured([] {
    ProgressLine line("kron x", false);
    line.show("50 %");
    line.clear();
    return 0;
  });
  EXPECT_EQ(ran.err, "");
}

TEST(TaskParts, AnIdIsTheTypeAndChance) {
  EXPECT_THAT(new_task_id("mail"), StartsWith("mail-"));
  EXPECT_NE(new_task_id("mail"), new_task_id("mail"));
}

TEST(TaskParts, TasksAreInADirectoryOrAKronds) {
  const Variable socket("KRON_SOCKET", "/run/x.sock");
  EXPECT_EQ(task_place({.data_dir = "/d", .socket = "", .state_dir = ""}).value().data_directory, "/d");
  EXPECT_EQ(task_place({.data_dir = "", .socket = "/s", .state_dir = ""}).value().krond->socket_path, "/s");
  EXPECT_EQ(task_place({.data_dir = "", .socket = "", .state_dir = "/st"}).value().krond->socket_path,
            "/st/krond.sock");
  EXPECT_EQ(task_place({.data_dir = "", .socket = "", .state_dir = ""}).value().krond->socket_path, "/run/x.sock");
  EXPECT_EQ(workers_directory({.data_dir = "", .socket = "", .state_dir = "/st"}).value(), "/st/workers");
}

TEST(TaskParts, OutcomesAsJson) {
  EXPECT_EQ(outcome_json("t", "accepted"), R"({"taskId":"t","outcome":"accepted"})");
  EXPECT_EQ(outcome_json("t", "accepted", 3), R"({"line":3,"taskId":"t","outcome":"accepted"})");
  const Error error{Code::invalid, "no", "data", 2};
  EXPECT_THAT(task_error_json("", error), StartsWith(R"({"error":{)"));
  EXPECT_THAT(task_error_json("t", error), StartsWith(R"({"taskId":"t","error":{)"));
  EXPECT_THAT(task_error_json("t", error, 9), StartsWith(R"({"line":9,"taskId":"t","error":{)"));
}

}  // namespace
}  // namespace kron::cli
