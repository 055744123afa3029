#include <algorithm>
#include <gtest/gtest.h>

#include "kron/jobs/kron_line.h"
#include "kron/jobs/load.h"
#include "kron/jobs/yaml.h"
#include "kron/testing/draws.h"
#include "kron/testing/property.h"

namespace kron::jobs::round_trip_test {
namespace {

using kron::testing::maybe;
using kron::testing::one_of;

ZoneDatabase& zones() {
  static ZoneDatabase database;
  return database;
}

// Printable text with everything that needs quoting in it.
std::string some_text(bool with_breaks) {
  auto text = *rc::gen::container<std::string>(
      rc::gen::weightedOneOf<char>({{6, rc::gen::inRange<char>(' ', 127)},
                                    {2, rc::gen::element('"', '\\', '\'', ' ', ',', '=', '(', ')', '#', ':')},
                                    {1, rc::gen::element(with_breaks ? '\n' : 'x', '\t')}}));
  if (maybe()) text += "\xC3\xA4";
  return text;
}

std::string duration() { return std::to_string(*rc::gen::inRange(1, 1000)) + one_of("s", "m", "h", "d"); }

// A job in the model's shape, with any of its keys.
Node some_job(bool with_breaks) {
  Node::Map job;
  const auto put = [&](std::string key, Node::Value value) {
    job.push_back({std::move(key), {}, Node(std::move(value))});
  };
  const auto map = [](std::initializer_list<std::pair<std::string, Node::Value>> members) {
    Node::Map result;
    for (const auto& [key, value] : members) result.push_back({key, {}, Node(value)});
    return result;
  };
  put("name", one_of("a", "db-backup", "x/y.z_1"));
  put("schedule",
      one_of("0 0 * * *", "*/7 1-5 * * MON-FRI", "H H(2-4) * * *", "0 30 4 1,15 * 5", "@every 90s", "@reboot", "@daily",
             "0 12 L * ?", "0 0 * * 5#2", "*/15 * */2 * MON", "0 0 0 1 1 * 2030-2040", "5 4 15W * *"));
  if (maybe()) put("timezone", one_of("Europe/Paris", "UTC", "America/St_Johns"));
  if (maybe()) put("dst", one_of("gap=skip", "overlap=both", "gap=run,overlap=second"));
  if (maybe()) {  // not so long that too many periods would be open at once
    put("window",
        map({{"mode", one_of("after", "before", "around")}, {"duration", one_of("7s", "90m", "17h", "50h")}}));
  }
  switch (*rc::gen::inRange(0, 6)) {
    case 0:
      put("distribution", map({{"name", one_of("skewLate", "skewEarly")},
                               {"params", map({{"shape", *rc::gen::inRange(1, 900) / 64.0}})}}));
      break;
    case 1:
      put("distribution",
          map({{"name", std::string("exponential")},
               {"params", map({{"lambda", *rc::gen::inRange(1, 900) / 10.0}, {"dir", one_of("early", "late")}})}}));
      break;
    case 2:
      put("distribution",
          map({{"name", std::string("normal")},
               {"params", map({{"mu", one_of("nominal", "start", "mid", "end")}, {"sigma", duration()}})}}));
      break;
    case 3:
      put("distribution", one_of("uniform", "skewLate", "normal", "exponential"));
      break;
    default:
      break;
  }
  if (maybe()) put("seed", map({{"strategy", one_of("stable", "daily", "weekly")}, {"salt", some_text(with_breaks)}}));
  if (maybe()) {
    put("policy", map({{"concurrency", one_of("allow", "forbid", "replace")},
                       {"deadline", duration()},
                       {"suspend", maybe()},
                       {"pauseAfter", one_of("0", "1", "1000")},
                       {"catchUpSpread", one_of("0s", "10m", "36500d")}}));
  } else if (maybe()) {
    put("policy", map({{"concurrency", std::string("queue")}, {"deadline", one_of("1s", "2h")}}));
  }
  if (maybe()) {
    put("only", map({{"hours", one_of("9-17", "22-4,12", "3")},
                     {"dow", one_of("MON-FRI", "SAT-MON", "0,3")},
                     {"calendar", std::string("c1")}}));
    put("avoid", map({{"dates", one_of("2026-12-24..2026-12-26", "2027-01-01..2027-01-01")},
                      {"between", one_of("22:00-06:00", "09:30-09:45,12:00-13:00")},
                      {"months", one_of("JAN,3-5", "12")},
                      {"dom", one_of("1-7", "31")},
                      {"calendar", one_of("c1", "c2,c1")}}));
    put("calendars",
        map({{"c1", one_of("2026-05-01", "2026-05-01..2026-05-03")},
             {"c2", Node::List{Node(std::string("2026-06-01")), Node(std::string("2026-07-01..2026-07-02"))}}}));
  }
  if (maybe()) put("shell", maybe() ? Node::Value(true) : Node::Value(std::string("/bin/bash")));
  if (job.back().key == "shell") {
    put("command", "x" + some_text(with_breaks));
  } else if (maybe()) {
    put("command",
        Node::List{Node(std::string("/bin/echo")), Node(some_text(with_breaks)), Node(some_text(with_breaks))});
  } else {
    put("task", "t" + some_text(false));
    auto& task = job.back().value;
    std::string type = *task.as<std::string>();
    std::erase(type, '\t');
    task = Node(std::move(type));
  }
  if (maybe()) put("user", one_of("root", "www-data", "1000"));
  if (maybe()) put("cwd", one_of("/srv", "~", "/a b"));
  if (maybe()) put("env", map({{"A", some_text(with_breaks)}, {"B_1", maybe()}, {"a.b", std::int64_t{3}}}));
  if (maybe()) put("umask", one_of("022", "77", "0"));
  if (maybe()) put("timeout", duration());
  if (maybe()) put("grace", duration());
  if (std::ranges::any_of(job, [](const Node::Member& member) { return member.key == "command"; })) {
    if (maybe()) put("retry", std::int64_t{*rc::gen::inRange(0, 101)});
    if (maybe()) put("fails_on", one_of("exit", "stderr", "nothing"));
    if (maybe()) put("success_exit", one_of("0,2", "255", "0, 1 ,143"));
    if (maybe()) put("backoff", one_of("0s", "30s", "1d", "90m"));
    if (maybe()) put("ping", one_of("https://hc-ping.com/0b1c", "http://[::1]:8000/a//", "https://h.example/a'\"=,%"));
    if (maybe()) put("env_file", one_of("/etc/a", "/a b", "/x,y\"\\"));
    if (job.back().key != "env_file" && maybe()) {
      put("env_file", Node::List{Node(std::string("/etc/a b")), Node(std::string("/etc/b"))});
    }
    if (maybe()) put("credential", map({{"db", one_of("/etc/db", "/a = b")}, {"T_1-x.y", std::string("/x,y")}}));
    if (maybe()) put("mask_output", maybe());
    if (maybe()) put("memory_max", one_of("1M", "2G", "123456789"));
    if (maybe()) put("tasks_max", std::int64_t{*rc::gen::inRange(1, 4'194'305)});
    if (maybe()) put("cpu_max", one_of("1%", "50%", "100000%"));
  }
  if (maybe()) put("stdout", one_of("discard", "capture", "inherit", "syslog", "/var/log/x y", "file:/var/log/z"));
  if (maybe()) put("stdin", some_text(with_breaks));
  if (maybe()) put("nice", std::int64_t{*rc::gen::inRange(-20, 20)});
  if (maybe())
    put("notify",
        map({{"on", std::string("failed+recovered")}, {"after", std::int64_t{3}}, {"to", one_of("ops", "a+b")}}));
  put("limits", map({{"memory", one_of("64k", "1G", "123")}, {"cpu", duration()}, {"files", std::int64_t{7}}}));
  if (maybe()) put("pool", one_of("db:4", "a/b:1", "x.y-z:100000"));
  if (maybe()) put("history", std::int64_t{*rc::gen::inRange(0, 100)});
  if (maybe()) put("description", some_text(with_breaks));
  return Node(std::move(job));
}

JobDefinition definition_of(const Node& node) {
  ModelContext context{.zones = zones()};
  Report report("", "");
  auto definition = read_definition(node, context, report, 0);
  if (!definition) RC_FAIL(text_of(report.problems().front()));
  return *definition;
}

JobDefinition only_job(const std::string& text, Spelling spelling) {
  const LoadedJobs jobs = load_text("f", text, spelling, zones());
  if (jobs.definitions.size() != 1) {
    RC_FAIL(text + (jobs.problems.empty() ? "" : text_of(jobs.problems.front())));
  }
  return jobs.definitions.front();
}

TEST(RoundTrip, YamlReadsBackWhatItPrints) {
  kron::testing::for_all(300, [] {
    const JobDefinition definition = definition_of(some_job(true));
    const auto node = node_of(definition);
    RC_ASSERT(node.has_value());
    Node::Map file;
    file.push_back({"jobs", {}, Node(Node::List{*node})});
    const std::string text = yaml_text(Node(std::move(file)));
    const JobDefinition again = only_job(text, Spelling::yaml);
    RC_ASSERT(again == definition);
    RC_ASSERT(yaml_text(*node_of(again)) == yaml_text(*node));
  });
}

TEST(RoundTrip, KronLinesReadBackWhatTheyPrint) {
  kron::testing::for_all(300, [] {
    const JobDefinition definition = definition_of(some_job(false));
    const auto line = kron_line(definition);
    RC_ASSERT(line.has_value());
    const JobDefinition again = only_job(*line + "\n", Spelling::kron);
    RC_ASSERT(again == definition);
    RC_ASSERT(*kron_line(again) == *line);
  });
}

}  // namespace
}  // namespace kron::jobs::round_trip_test
