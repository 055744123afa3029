#include "command.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <sstream>

#include "fake_krond.h"
#include "kron/base/result.h"
#include "kron/testing/temporary_directory.h"

// What every verb has in common: the reading of its flags, and which exit status stands for what.
namespace kron::cli {
namespace {

std::string sentence(const Words& words) {
  std::string text = "kron";
  for (const std::string& word : words) text += " " + word;
  return text;
}

// As people see it in `kron --help`: two spaces, the verb, and its summary.
std::vector<std::string> verbs_in_help(const Words& of = {}) {
  Words words = of;
  words.emplace_back("--help");
  std::istringstream help(kron(words).out);
  std::vector<std::string> verbs;
  const std::regex verb("^  ([a-z][a-z-]*)  +[A-Z].*");
  std::smatch match;
  for (std::string line; std::getline(help, line);) {
    if (std::regex_match(line, match, verb)) verbs.push_back(match[1]);
  }
  return verbs;
}

TEST(Command, TheHelpNamesEveryVerb) {
  const auto verbs = verbs_in_help();
  for (const char* verb :
       {"decide", "evaluate", "next",       "explain", "lint",   "simulate", "convert", "import", "schema",
        "status", "jobs",     "runs",       "show",    "logs",   "trigger",  "wait",    "pause",  "resume",
        "kill",   "reload",   "events",     "state",   "doctor", "web",      "cluster", "kube",   "task",
        "worker", "help",     "completion", "top",     "edit",   "token"}) {
    EXPECT_NE(std::ranges::find(verbs, verb), verbs.end()) << verb;
  }
}

TEST(Command, EveryVerbHasAHelpWithExamplesOfItself) {
  for (const std::string& verb : verbs_in_help()) {
    const Ran help = kron({verb, "--help"});
    EXPECT_EQ(help.status, 0) << verb;
    EXPECT_THAT(help.out, HasSubstr("Examples:")) << verb;
    EXPECT_THAT(help.out, HasSubstr("kron " + verb)) << verb;
    EXPECT_EQ(help.err, "") << verb;
    // The order of what excludes what is CLI11's own, and not always the same.
    EXPECT_EQ(kron({"help", verb}).out.size(), help.out.size()) << verb;
  }
}

TEST(Command, EveryVerbOfAVerbHasAHelpToo) {
  for (const char* verb : {"task", "state", "cluster", "kube", "token"}) {
    const auto below = verbs_in_help({verb});
    EXPECT_GE(below.size(), 3U) << verb;
    for (const std::string& one : below) {
      const Ran help = kron({verb, one, "--help"});
      EXPECT_EQ(help.status, 0) << verb << " " << one;
      EXPECT_THAT(help.out, HasSubstr("Examples:")) << verb << " " << one;
      EXPECT_EQ(kron({"help", verb, one}).status, 0) << verb << " " << one;
    }
  }
}

TEST(Command, SaysItsVersion) {
  const Ran ran = kron({"--version"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_TRUE(std::regex_match(ran.out, std::regex("kron \\d+\\.\\d+\\.\\d+( \\([0-9A-Za-z.-]+\\))?\n"))) << ran.out;
}

TEST(Command, TheHelpIsPlainWhereTheLocaleIs) {
  const Variable locale("LC_ALL", "C");
  for (const std::string& verb : verbs_in_help()) {
    const std::string help = kron({verb, "--help"}).out;
    const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
    EXPECT_TRUE(std::ranges::all_of(help, is_ascii)) << verb;
  }
}

TEST(Command, AVerbThatIsMisspeltIsToldTheNearest) {
  const std::pair<Words, const char*> cases[] = {
      {{"jobz"}, "kron: unknown command 'jobz'; did you mean jobs?\n"},
      {{"STATUS"}, "kron: unknown command 'STATUS'; did you mean status?\n"},
      {{"xyzzy"}, "kron: unknown command 'xyzzy'; see kron --help\n"},
      {{""}, "kron: unknown command ''; see kron --help\n"},
      {{"a\x1b[2Jb"}, "kron: unknown command 'a\\x1b[2Jb'; see kron --help\n"},
      {{"task", "submitt"}, "kron task: unknown command 'submitt'; did you mean submit?\n"},
      {{"task"}, "kron task: no command; see kron task --help\n"},
      {{"state", "lst"}, "kron state: unknown command 'lst'; did you mean list?\n"},
      {{"state"}, "kron state: no command; see kron state --help\n"},
      {{"kube", "explan"}, "kron kube: unknown command 'explan'; did you mean explain?\n"},
      {{"kube"}, "kron kube: no command; see kron kube --help\n"},
      {{"help", "jbos"}, "kron help: there is no command 'jbos'; see kron --help\n"},
      {{"help", "task", "jobs"}, "kron help: there is no command 'jobs'; see kron --help\n"},
  };
  for (const auto& [words, err] : cases) {
    const Ran ran = kron(words);
    EXPECT_EQ(ran.status, 2) << sentence(words);
    EXPECT_EQ(ran.err, err) << sentence(words);
    EXPECT_EQ(ran.out, "") << sentence(words);
  }
}

TEST(Command, AFlagThatIsMisspeltIsToldTheNearest) {
  const std::pair<Words, const char*> cases[] = {
      {{"jobs", "--limt", "3"}, "kron jobs: unknown flag '--limt'; did you mean --limit?\n"},
      {{"jobs", "--limt=3"}, "kron jobs: unknown flag '--limt'; did you mean --limit?\n"},
      {{"runs", "--zzzzzzzz"}, "kron runs: unknown flag '--zzzzzzzz'; see kron runs --help\n"},
      {{"status", "now"}, "kron status: unexpected argument 'now'; see kron status --help\n"},
      {{"task", "list", "--stat", "failed"}, "kron task list: unknown flag '--stat'; did you mean --state?\n"},
      {{"kill", "--temr", "x"}, "kron kill: unknown flag '--temr'; did you mean --term?\n"},
  };
  for (const auto& [words, err] : cases) {
    const Ran ran = kron(words);
    EXPECT_EQ(ran.status, 2) << sentence(words);
    EXPECT_EQ(ran.err, err) << sentence(words);
  }
}

// None of these gets as far as asking anybody.
const std::vector<Words>& wrong_usages() {
  static const std::vector<Words> kUsages{
      {},
      {"--vresion"},
      {"jobs", "--limit", "0"},
      {"jobs", "--limit", "10000001"},
      {"jobs", "--limit", "-1"},
      {"jobs", "--limit", "many"},
      {"jobs", "--state", "sleeping"},
      {"jobs", "--all", "--limit", "3"},
      {"jobs", "--names", "--format", "json"},
      {"jobs", "--format", "xml"},
      {"jobs", "--format"},
      {"runs", "--outcome", "done"},
      {"runs", "--result", "good"},
      {"runs", "--before", "-3"},
      {"runs", "--limit", "0"},
      {"show"},
      {"show", "a", "b"},
      {"logs"},
      {"logs", "a", "--tail", "0"},
      {"logs", "a", "--tail", "10000001"},
      {"trigger"},
      {"trigger", "a", "--timeout", "3s"},
      {"trigger", "a", "--idempotency-key", ""},
      {"wait"},
      {"pause"},
      {"pause", "a", "--until", "2026-03-01T00:00:00Z", "--for", "1h"},
      {"resume"},
      {"resume", "a", "--until", "2026-03-01T00:00:00Z"},
      {"kill"},
      {"state", "show"},
      {"state", "reset"},
      {"next"},
      {"next", "--all", "a"},
      {"next", "--cron", "* * * * *", "--all"},
      {"next", "--cron", "* * * * *", "--for", "1h"},
      {"next", "--cron", "* * * * *", "--count", "100001"},
      {"next", "--cron", "* * * * *", "--count", "-1"},
      {"next", "--batch", "--cron", "* * * * *"},
      {"next", "--all", "--file", "x", "--for", "1h", "--count", "3"},
      {"explain"},
      {"explain", "a", "--file", "x", "--at", "2026-03-01T00:00:00Z", "--period", "p"},
      {"explain", "a", "--file", "x", "--log-line", "l"},
      {"lint"},
      {"lint", "--source", "toml", "x"},
      {"lint", "--krond", "x"},
      {"lint", "--socket", "s", "x"},
      {"lint", "--socket", "s"},
      {"lint", "--max-running", "0", "x"},
      {"lint", "--max-running", "-1", "x"},
      {"convert", "x"},
      {"convert", "--to", "toml", "x"},
      {"convert", "--to", "yaml"},
      {"import"},
      {"import", "at"},
      {"import", "crontab", "--system", "file"},
      {"import", "crontab", "--system", "--user-column"},
      {"import", "crontab", "--all"},
      {"import", "cronjob", "--from", "file"},
      {"import", "timers", "file"},
      {"simulate", "x", "--format", "pdf"},
      {"completion"},
      {"completion", "tcsh"},
      {"task", "submit"},
      {"task", "submit", "--type"},
      {"task", "submit", "--type", "t", "--priority", "high"},
      {"task", "submit", "--type", "t", "--run-at", "2026-03-01T00:00:00Z", "--delay", "1h"},
      {"task", "submit", "--type", "t", "{}", "--data-file", "f"},
      {"task", "submit", "--type", "t", "--data-dir", "d", "--socket", "s"},
      {"task", "submit", "--type", "t", "--data-dir", "d", "--state-dir", "s"},
      {"task", "list", "--state", "lost"},
      {"task", "list", "--limit", "0"},
      {"task", "show"},
      {"task", "retry"},
      {"task", "retry", "a", "--all-failed"},
      {"task", "retry", "a", "--type", "t"},
      {"task", "retry", "a", "--attempts", "0"},
      {"task", "cancel"},
      {"task", "prune", "--state", "running"},
      {"worker"},
      {"worker", "--exec", "x", "--once", "--drain"},
      {"worker", "--exec", "x", "--concurrency", "0"},
  };
  return kUsages;
}

TEST(Command, WrongUsageIsStatusTwoAndSaysWhyOnStandardErrorAlone) {
  for (const Words& words : wrong_usages()) {
    const Ran ran = kron(words);
    EXPECT_EQ(ran.status, 2) << sentence(words);
    EXPECT_EQ(ran.out, "") << sentence(words);
    EXPECT_THAT(ran.err, Not(IsEmpty())) << sentence(words);
    EXPECT_THAT(ran.err, EndsWith("\n")) << sentence(words);
  }
}

// Every verb that asks krond, with what it asks for last.
struct Asking {
  Words words;
  const char* request;
};

const std::vector<Asking>& askings() {
  static const std::vector<Asking> kAskings{
      {{"status"}, "GET /status?changes=true"},
      {{"jobs"}, "GET /jobs?limit=100"},
      {{"runs"}, "GET /runs?limit=100"},
      {{"show", "a"}, "GET /jobs/a"},
      {{"logs", "a"}, "GET /jobs/a"},
      {{"trigger", "a"}, "POST /jobs/a/trigger"},
      {{"wait", "a"}, "GET /runs/a"},
      {{"pause", "a"}, "POST /jobs/a/pause"},
      {{"resume", "a"}, "POST /jobs/a/resume"},
      {{"kill", "a"}, "POST /runs/a/kill"},
      {{"reload"}, "POST /reload"},
      {{"events"}, "GET /events"},
      {{"state", "list"}, "GET /state?limit=1000"},
      {{"state", "show", "a"}, "GET /state/a"},
      {{"state", "reset", "a"}, "POST /state/a/reset"},
      {{"state", "prune"}, "POST /state/prune"},
  };
  return kAskings;
}

TEST(Command, OneTableOfExitStatusesForWhateverKrondAnswers) {
  const std::pair<Code, int> table[] = {{Code::refused, 4}, {Code::conflict, 4}, {Code::internal, 70}};
  for (const Asking& asking : askings()) {
    for (const auto& [code, status] : table) {
      FakeKrond krond;
      krond.on("GET /status", R"({"now":"2026-03-01T00:00:00Z"})");
      krond.refuse(asking.request, {code, "because of this"});
      const Ran ran = krond.kron(asking.words);
      EXPECT_EQ(ran.status, status) << sentence(asking.words) << " " << name_of(code);
      EXPECT_THAT(ran.err, AllOf(StartsWith("kron " + asking.words.front() + ": "), HasSubstr("because of this")))
          << sentence(asking.words);
      EXPECT_EQ(ran.out, "") << sentence(asking.words);
    }
  }
}

TEST(Command, AnErrorAsJsonIsOnStandardOutputWithTheSameStatus) {
  for (const Asking& asking : askings()) {
    FakeKrond krond;
    krond.on("GET /status", R"({"now":"2026-03-01T00:00:00Z"})");
    krond.refuse(asking.request, {Code::refused, "because \"of\" this", "name"});
    Words words = asking.words;
    words.insert(words.end(), {"--format", "json"});
    const Ran ran = krond.kron(words);
    EXPECT_EQ(ran.status, 4) << sentence(words);
    EXPECT_EQ(ran.err, "") << sentence(words);
    EXPECT_THAT(ran.out, AllOf(StartsWith(R"({"error":{)"), HasSubstr(R"(because \"of\" this)"), EndsWith("}\n")))
        << sentence(words);
  }
}

TEST(Command, AKrondThatIsNotThereIsStatusThree) {
  const testing::TemporaryDirectory directory;
  for (const Asking& asking : askings()) {
    Words words = asking.words;
    words.insert(words.end(), {"--socket", directory.file("nobody.sock")});
    const Ran ran = kron(words);
    EXPECT_EQ(ran.status, 3) << sentence(words) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("nobody.sock")) << sentence(words);
    words.insert(words.end(), {"--format", "json"});
    EXPECT_EQ(kron(words).status, 3) << sentence(words);
  }
}

TEST(Command, AnAnswerThatIsNoJsonIsAnInternalErrorAndNotObeyed) {
  for (const Asking& asking : askings()) {
    if (asking.words.front() == "wait" || asking.words.front() == "events") continue;  // they ask again
    FakeKrond krond;
    krond.on("GET /status", R"({"now":"2026-03-01T00:00:00Z"})");
    krond.on(asking.request, "<html>\x1b[2J</html>");
    const Ran ran = krond.kron(asking.words);
    EXPECT_EQ(ran.status, 70) << sentence(asking.words);
    EXPECT_THAT(ran.err, HasSubstr("no JSON")) << sentence(asking.words);
    EXPECT_THAT(ran.err + ran.out, Not(HasSubstr("\x1b"))) << sentence(asking.words);
  }
}

TEST(Command, NoFieldOfAnAnswerMayBeMissing) {
  // Nor of another kind: this is for showing, and an older or newer krond has others.
  const char* const kAnswers[] = {"{}",
                                  "[]",
                                  "null",
                                  "3",
                                  R"("x")",
                                  R"({"jobs":3,"runs":"x","records":{},"next":[]})",
                                  R"({"jobs":[3,null,{}],"runs":[3,null,{}],"records":[3,null,{}],"paused":3})"};
  for (const Asking& asking : askings()) {
    if (asking.words.front() == "wait" || asking.words.front() == "events") continue;
    for (const char* answer : kAnswers) {
      FakeKrond krond;
      krond.on("GET /status", R"({"now":"2026-03-01T00:00:00Z"})");
      krond.on(asking.request, answer);
      const Ran ran = krond.kron(asking.words);
      EXPECT_LE(ran.status, 4) << sentence(asking.words) << " " << answer << ran.err;
    }
  }
}

TEST(Command, TheSocketIsTheFlagsOrThatOfTheStateDirectoryOrTheVariables) {
  const testing::TemporaryDirectory directory;
  FakeKrond krond;
  krond.on("GET /jobs?limit=100", R"({"jobs":[]})");
  {
    const Variable variable("KRON_SOCKET", krond.socket().c_str());
    EXPECT_EQ(kron({"jobs"}).status, 0);
    EXPECT_EQ(kron({"jobs", "--state-dir", directory.path()}).status, 3) << "a directory that is named goes before it";
    EXPECT_EQ(kron({"jobs", "--socket", directory.file("no.sock")}).status, 3);
  }
  std::filesystem::create_symlink(krond.socket(), directory.file("krond.sock"));
  const Variable variable("KRON_SOCKET", directory.file("no.sock").c_str());
  EXPECT_EQ(kron({"jobs", "--state-dir", directory.path()}).status, 0);
  EXPECT_EQ(kron({"jobs"}).status, 3);
}

TEST(Command, CompletesTheWordsThatItKnows) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Ran ran = kron({"completion", shell});
    EXPECT_EQ(ran.status, 0) << shell;
    for (const char* word : {"trigger", "submit-batch", "skip-missed", "idempotency-key"}) {
      EXPECT_THAT(ran.out, HasSubstr(word)) << shell;
    }
  }
}

}  // namespace
}  // namespace kron::cli
