#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "fake_krond.h"
#include "kron/testing/temporary_directory.h"

// `kron edit` and `kron reload --dry-run`.
namespace kron::cli::operate_edit_test {
namespace {

constexpr char kReloaded[] =
    R"({"jobs":6,"keptFiles":[],"problems":[],"added":["a"],"addedCount":1,"changed":[],"changedCount":0,)"
    R"("removed":["b","c"],"removedCount":3,"dryRun":false})";

class Edit : public ::testing::Test {
 protected:
  Edit() {
    std::ofstream(file_) << "0 3 * * * name=a command=x\n";
    krond_.on("GET /jobs/a", R"({"identity":"a","file":")" + file_ + R"(","line":1,"spelling":"kron"})");
    krond_.on("POST /reload", kReloaded);
  }

  // An editor that makes this of the file.
  std::string editor_that_writes(const std::string& text) {
    const std::string source = directory_.file("source");
    std::ofstream(source) << text;
    const std::string program = directory_.file("edit.sh");
    std::ofstream(program) << "#!/bin/sh\nfor last; do :; done\ncat " << source << " > \"$last\"\n";
    ::chmod(program.c_str(), 0700);
    return program;
  }

  testing::TemporaryDirectory directory_;
  std::string file_ = directory_.file("jobs.kron");
  FakeKrond krond_;
  Variable visual_{"VISUAL", nullptr};
};

TEST_F(Edit, AFileThatIsInOrderIsReloaded) {
  const Variable editor("EDITOR",
                        editor_that_writes("0 4 * * * @win(after,1h) @policy(deadline=1h) name=a command=x\n").c_str());
  const Ran ran = krond_.kron({"edit", "a"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("6 jobs: 1 added, 3 removed\n"));
  EXPECT_THAT(krond_.asked(), ElementsAre("GET /jobs/a", "POST /reload"));
}

TEST_F(Edit, AFileWithErrorsIsNotReloaded) {
  const Variable editor("EDITOR", editor_that_writes("61 * * * * name=a command=x\n").c_str());
  const Ran ran = krond_.kron({"edit", "a"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("error"));
  EXPECT_THAT(ran.err, HasSubstr("its earlier jobs go on"));
  EXPECT_THAT(krond_.asked(), ElementsAre("GET /jobs/a"));
}

TEST_F(Edit, AFileThatHasNotChangedIsNotReloaded) {
  const Variable editor("EDITOR", "true");
  EXPECT_THAT(krond_.kron({"edit", "a"}).out, HasSubstr("has not changed"));
  EXPECT_THAT(krond_.asked(), ElementsAre("GET /jobs/a"));
}

TEST_F(Edit, AnEditorThatFailsReloadsNothing) {
  const Variable editor("EDITOR", "false");
  const Ran ran = krond_.kron({"edit", "a"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("nothing is reloaded"));
  EXPECT_THAT(krond_.asked(), ElementsAre("GET /jobs/a"));
}

TEST_F(Edit, AFileMayBeNamedItself) {
  const Variable editor("EDITOR", editor_that_writes("0 4 * * * name=b command=x\n").c_str());
  EXPECT_EQ(krond_.kron({"edit", file_}).status, 0);
  EXPECT_THAT(krond_.kron({"edit", directory_.file("nowhere")}).err, HasSubstr("nowhere"));
}

TEST_F(Edit, WhatIsNoFileHereIsRefused) {
  krond_.on("GET /jobs/far", R"({"identity":"far","file":"/nonexistent/x.kron","line":1,"spelling":"kron"})");
  krond_.on("GET /jobs/shared", R"({"identity":"shared","file":"","line":0,"spelling":"cronken"})");
  EXPECT_THAT(krond_.kron({"edit", "far"}).err, HasSubstr("is no file on this host"));
  EXPECT_THAT(krond_.kron({"edit", "shared"}).err, HasSubstr("one of a cluster"));
}

TEST(ReloadVerb, SaysWhatHasChanged) {
  FakeKrond krond;
  krond.on("POST /reload", kReloaded);
  EXPECT_EQ(krond.kron({"reload"}).out, "6 jobs: 1 added, 3 removed\n");
  FakeKrond same;
  same.on("POST /reload",
          R"({"jobs":1,"keptFiles":[],"problems":[],"added":[],"addedCount":0,"changed":[],"changedCount":0,)"
          R"("removed":[],"removedCount":0,"dryRun":false})");
  EXPECT_EQ(same.kron({"reload"}).out, "1 job, nothing changed\n");
  FakeKrond older;
  older.on("POST /reload", R"({"jobs":2,"keptFiles":[],"problems":[]})");
  EXPECT_EQ(older.kron({"reload"}).out, "2 jobs\n");
}

TEST(ReloadVerb, ADryRunNamesTheJobs) {
  FakeKrond krond;
  std::string answer = kReloaded;
  answer.replace(answer.find("\"dryRun\":false"), 14, "\"dryRun\":true");
  krond.on("POST /reload?dryRun=true", answer);
  EXPECT_EQ(krond.kron({"reload", "--dry-run"}).out,
            "would add a\nwould remove b\nwould remove c\nwould remove 1 more\ndry run: 6 jobs: 1 added, 3 removed\n");
  FakeKrond bad;
  bad.on(
      "POST /reload?dryRun=true",
      R"({"jobs":1,"keptFiles":["f"],"problems":[{"file":"f","line":1,"column":2,"severity":"error","message":"m"}],)"
      R"("added":[],"addedCount":0,"changed":[],"changedCount":0,"removed":[],"removedCount":0,"dryRun":true})");
  const Ran ran = bad.kron({"reload", "--dry-run"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("f:1:2: error: m\n"));
  EXPECT_THAT(ran.err, HasSubstr("f: its earlier jobs stay in force\n"));
}

TEST(SortedJobs, AreSortedAndChosenHere) {
  FakeKrond krond;
  const auto run = [](const char* start, const char* end, int code) {
    return std::string(R"({"outcome":"executed","state":"ended","runId":"r","exitCode":)") + std::to_string(code) +
           R"(,"startedAt":")" + start + R"(","endedAt":")" + end + R"("})";
  };
  const auto job = [](const char* name, const char* next, const std::string& last) {
    return std::string(R"({"identity":")") + name + R"(","schedule":"s","running":0,"paused":null,"next":)" +
           (*next == '\0' ? "null" : std::string(R"({"startsAt":")") + next + R"("})") + R"(,"last":)" + last + "}";
  };
  krond.on("GET /jobs?limit=1000",
           R"({"jobs":[)" + job("c", "2026-03-01T03:00:00Z", run("2026-02-01T00:00:00Z", "2026-02-01T00:00:09Z", 1)) +
               "," + job("a", "", "null") + R"(],"next":"2"})");
  krond.on("GET /jobs?after=2&limit=1000",
           R"({"jobs":[)" + job("b", "2026-03-01T01:00:00Z", run("2026-02-02T00:00:00Z", "2026-02-02T00:00:01Z", 0)) +
               "," +
               job("d", "2026-03-01T02:00:00Z",
                   R"({"outcome":"missed","reason":"deadline","chosenTime":"2026-02-03T00:00:00Z"})") +
               "]}");
  const auto names = [&](Words words) {
    words.insert(words.begin(), {"jobs", "--names"});
    return krond.kron(words).out;
  };
  EXPECT_EQ(names({"--sort", "name"}), "a\nb\nc\nd\n");
  EXPECT_EQ(names({"--sort", "next"}), "b\nd\nc\na\n");
  EXPECT_EQ(names({"--sort", "last"}), "d\nb\nc\na\n");
  EXPECT_EQ(names({"--sort", "duration"}), "c\nb\na\nd\n");
  EXPECT_EQ(names({"--state", "failed"}), "c\n");
  EXPECT_EQ(names({"--state", "missed"}), "d\n");
  EXPECT_EQ(names({"--state", "skipped"}), "");
  EXPECT_EQ(names({"--sort", "name", "--limit", "2"}), "a\nb\n");
  EXPECT_THAT(krond.kron({"jobs", "--sort", "name", "--limit", "2"}).err, HasSubstr("there are more"));
  EXPECT_EQ(krond.kron({"jobs", "--state", "unschedulable"}).out, "no jobs\n");
}

}  // namespace
}  // namespace kron::cli::operate_edit_test
