#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/jobs/foreign_jobs.h"
#include "kron/jobs/import_cronicle.h"
#include "kron/jobs/import_dkron.h"
#include "kron/jobs/kron_line.h"

namespace kron::jobs::import_foreign_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Imported {
  std::vector<std::string> lines;  // .kron
  std::string said;
  std::size_t errors = 0;
};

using Import = std::vector<JobDefinition> (*)(std::string_view, ModelContext&, Report&);

Imported imported(Import import, const std::string& text, const std::string& no_zone = "") {
  static ZoneDatabase zones;
  ModelContext context{.zones = zones, .zone = zones.find("Europe/Paris").value()};
  context.no_zone.problem = no_zone;
  Report report("jobs.json", text);
  Imported result;
  for (const JobDefinition& definition : import(text, context, report)) {
    const auto line = kron_line(definition);
    result.lines.push_back(line ? *line : "no line: " + line.error().message);
  }
  result.errors = report.error_count();
  for (const Problem& problem : report.problems()) {
    result.said += std::string(name_of(problem.severity)) + ": " + problem.message + "\n";
  }
  return result;
}

Imported dkron(const std::string& members) {
  return imported(import_dkron, R"([{"name":"a","executor":"shell","concurrency":"forbid","executor_config":)"
                                R"({"command":"/bin/true"},)" +
                                    members + "}]");
}
Imported cronicle(const std::string& members) {
  return imported(import_cronicle, R"({"code":0,"rows":[{"id":"e1","title":"a","enabled":1,"max_children":1,)"
                                   R"("plugin":"shellplug","params":{"script":"#!/bin/sh\n/bin/true\n"},)" +
                                       members + "}]}");
}

TEST(ImportDkron, AJobIsCarriedOver) {
  const Imported result = imported(import_dkron, R"([{
    "id": "backup-db", "name": "backup-db", "displayname": "Save the database", "timezone": "Europe/Berlin",
    "schedule": "0 30 2 * * 1-5", "disabled": false, "concurrency": "forbid", "retries": 0, "tags": null,
    "executor": "shell", "executor_config": {"command": "/usr/bin/backup --all | tee log", "shell": "true",
    "cwd": "/srv", "timeout": "1h30m", "env": "LEVEL=full,TO=disk"}, "expires_at": null, "ephemeral": false}])");
  EXPECT_EQ(result.said, "");
  ASSERT_EQ(result.lines.size(), 1U);
  EXPECT_THAT(result.lines[0],
              AllOf(HasSubstr("30 2 * * 1-5"), HasSubstr("Europe/Berlin"), HasSubstr("name=backup-db"),
                    HasSubstr("shell=true"), HasSubstr("timeout=1h30m"), HasSubstr("LEVEL"), HasSubstr("cwd=/srv")));
}

TEST(ImportDkron, SchedulesOfEachKind) {
  EXPECT_THAT(dkron(R"("schedule":"*/5 * * * * ?")").lines, ElementsAre(HasSubstr("*/5 * * * * *")));
  EXPECT_THAT(dkron(R"("schedule":"@hourly","timezone":"Asia/Tokyo")").lines,
              ElementsAre(AllOf(HasSubstr("0 * * * *"), HasSubstr("Europe/Paris"))));
  EXPECT_THAT(dkron(R"("schedule":"@hourly","timezone":"Asia/Tokyo")").said,
              HasSubstr("note: dkron passes the timezone by"));
  EXPECT_THAT(dkron(R"("schedule":"@minutely")").lines, ElementsAre(HasSubstr("* * * * *")));
  EXPECT_THAT(dkron(R"("schedule":"CRON_TZ=Asia/Tokyo 0 0 3 * * *")").lines, ElementsAre(HasSubstr("Asia/Tokyo")));
  const Imported every = dkron(R"("schedule":"@every 1h30m")");
  EXPECT_THAT(every.lines, ElementsAre(HasSubstr("@every 1h30m")));
  EXPECT_THAT(every.said, HasSubstr("warning: @every counts from 1970"));
  EXPECT_THAT(dkron(R"("schedule":"@at 2031-02-03T04:05:06+01:00")").lines,
              ElementsAre("6 5 3 3 2 * 2031 name=a command=/bin/true"));
}

TEST(ImportDkron, OverlapAndPause) {
  const Imported result =
      imported(import_dkron, R"({"name":"Über Nacht","schedule":"@daily","disabled":true,"executor":"shell",
    "executor_config":{"command":"true"}})");
  EXPECT_THAT(result.lines,
              ElementsAre(AllOf(HasSubstr("concurrency=allow"), HasSubstr("suspend=true"), HasSubstr("ber-nacht"))));
}

TEST(ImportDkron, WhatNoJobCanSayIsLeftOut) {
  for (const char* members :
       {R"("schedule":"@manually")", R"("schedule":"","parent_job":"b")", R"("schedule":"@at soon")",
        R"("schedule":"61 * * * * *")", R"("schedule":"0 0 0 * * *","timezone":"Nowhere/City")"}) {
    const Imported result = dkron(members);
    EXPECT_THAT(result.lines, IsEmpty()) << members;
    EXPECT_GE(result.errors, 1U) << members;
  }
  EXPECT_THAT(
      imported(import_dkron, R"([{"name":"a","schedule":"@daily","executor":"http","executor_config":{}}])").said,
      HasSubstr("error: the executor 'http'"));
  EXPECT_EQ(imported(import_dkron, "[1]").errors, 1U);
  EXPECT_EQ(imported(import_dkron,
                     R"([{"name":"a","schedule":"@daily","executor":"shell","executor_config":{"command":"x"}}])",
                     "the zone is not known")
                .errors,
            1U);
}

TEST(ImportDkron, WhatIsLostIsSaid) {
  const Imported result = dkron(R"("schedule":"@daily","retries":3,"tags":{"role":"web:1"},"processors":{"log":{}},
    "dependent_jobs":["b"],"ephemeral":true,"expires_at":"2031-01-01T00:00:00Z","owner":"ada","owner_email":"a@example.org",
    "metadata":{"team":"x"})");
  EXPECT_EQ(result.lines.size(), 1U);
  for (const char* key :
       {"retries", "tags", "processors", "dependent_jobs", "ephemeral", "expires_at", "owner", "metadata"}) {
    EXPECT_THAT(result.said, HasSubstr(std::string("warning: ") + key + ": ")) << key;
  }
}

TEST(ImportCronicle, AnEventIsCarriedOver) {
  const Imported result =
      imported(import_cronicle, R"({"code":0,"rows":[{"id":"eiv1","title":"Backup DB, nightly","enabled":1,
    "timing":{"hours":[2,14],"minutes":[30],"weekdays":[5,1,1]},"timezone":"America/New_York","plugin":"shellplug",
    "params":{"script":"#!/bin/bash\n\n/usr/bin/backup --all\n","annotate":0},"timeout":3600,"max_children":1,
    "notes":"Save all","category":"general","retries":0,"catch_up":0}],"list":{"length":1}})");
  EXPECT_EQ(result.said, "");
  ASSERT_EQ(result.lines.size(), 1U);
  EXPECT_THAT(result.lines[0],
              AllOf(HasSubstr("30 2,14 * * 1,5"), HasSubstr("America/New_York"), HasSubstr("name=backup-db-nightly"),
                    HasSubstr("shell=/bin/bash"), HasSubstr("timeout=1h"), HasSubstr("/usr/bin/backup --all")));
}

TEST(ImportCronicle, WhatIsNotNamedIsAnyTime) {
  EXPECT_THAT(cronicle(R"("timing":{})").lines, ElementsAre(HasSubstr("* * * * *")));
  EXPECT_THAT(cronicle(R"("timing":{"minutes":[0],"hours":[4],"days":[1],"months":[],"years":[2031]})").lines,
              ElementsAre(HasSubstr("0 0 4 1 * * 2031")));
}

TEST(ImportCronicle, OverlapAndPause) {
  const Imported many =
      imported(import_cronicle, R"([{"title":"x","enabled":0,"max_children":3,"timing":{"minutes":[1]},
    "plugin":"shellplug","params":{"script":"true"}}])");
  EXPECT_THAT(many.lines, ElementsAre(AllOf(HasSubstr("concurrency=allow"), HasSubstr("suspend=true"))));
  EXPECT_THAT(many.said, HasSubstr("warning: max_children: "));
}

TEST(ImportCronicle, WhatNoJobCanSayIsLeftOut) {
  for (const char* members :
       {R"("timing":false)", R"("timing":{"days":[13],"weekdays":[5]})", R"("timing":{"minutes":[60]})",
        R"("timing":{"days":[-1]})", R"("timing":{"hours":"2"})"}) {
    const Imported result = cronicle(members);
    EXPECT_THAT(result.lines, IsEmpty()) << members;
    EXPECT_GE(result.errors, 1U) << members;
  }
  for (const char* params : {R"("plugin":"urlplug","params":{"url":"http://x"})",
                             R"("plugin":"shellplug","params":{"script":"#!/usr/bin/perl\nprint 1"})",
                             R"("plugin":"shellplug","params":{"script":"#!/bin/sh -e\ntrue"})",
                             R"("plugin":"shellplug","params":{"script":"#!/bin/sh"})"}) {
    const Imported result = imported(import_cronicle, std::string(R"([{"title":"x","timing":{},)") + params + "}]");
    EXPECT_THAT(result.lines, IsEmpty()) << params;
    EXPECT_GE(result.errors, 1U) << params;
  }
}

TEST(ImportCronicle, WhatIsLostIsSaid) {
  const Imported result =
      cronicle(R"("timing":{"minutes":[0]},"retries":2,"catch_up":1,"queue":1,"multiplex":1,"detached":1,
    "chain":"e2","chain_error":"e3","target":"allgrp","notify_fail":"a@example.org","web_hook":"http://x","memory_limit":5,
    "cpu_limit":100)");
  EXPECT_EQ(result.lines.size(), 1U);
  for (const char* key : {"retries", "catch_up", "queue", "multiplex", "detached", "chain", "chain_error", "target",
                          "notify_fail", "web_hook", "memory_limit", "cpu_limit"}) {
    EXPECT_THAT(result.said, HasSubstr(std::string("warning: ") + key + ": ")) << key;
  }
}

TEST(ImportDkron, TheLimitOfMemoryIsThatOfTheRun) {
  const Imported result = imported(import_dkron, R"([{"name":"x","schedule":"@daily","executor":"shell",
    "executor_config":{"command":"true","mem_limit_kb":"65536"}}])");
  EXPECT_THAT(result.lines, ElementsAre(HasSubstr("memory_max=64M"))) << result.said;
}

TEST(ForeignJobs, NamesAreWhatJobFilesAllow) {
  std::set<std::string> taken;
  for (const char* title : {"Backup DB, nightly", "--", "", "x/y.z_1", "Über", "a"}) {
    EXPECT_TRUE(is_job_name(name_for(title, taken))) << title;
  }
  EXPECT_EQ(name_for("a", taken), "a-2");
  EXPECT_TRUE(is_job_name(name_for(std::string(500, 'x'), taken)));
}

}  // namespace
}  // namespace kron::jobs::import_foreign_test
