#include <gtest/gtest.h>

#include "fake_krond.h"
#include "kron/env/clock.h"

// `kron status` and `kron reload`: what each member of the answer looks like.
namespace kron::cli {
namespace {

constexpr char kStatus[] = "GET /status?changes=true";

std::string status_shown(const std::string& members) {
  FakeKrond krond;
  krond.on(kStatus, R"({"version":"1.2.3","pid":7,"ready":true)" + members + "}");
  const Ran ran = krond.kron({"status"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.err, "");
  return ran.out;
}

TEST(ShowStatus, ShowsAKrondThatIsWell) {
  EXPECT_EQ(status_shown(R"(,"stopping":false,"startedAt":"2026-03-01T00:00:00Z","now":"2026-03-02T00:00:00Z",)"
                         R"("clockOffsetSeconds":0,"jobs":12,"running":1,"nextDue":"2026-03-02T00:01:00Z",)"
                         R"("stateDirectory":"/var/lib/krond","config":["/etc/krond.d","/srv/x.kron"],)"
                         R"("socket":"/run/krond/krond.sock","notScheduled":[],"tasks":{"pending":4,"running":2})"),
            "krond         1.2.3, PID 7, ready\n"
            "started       2026-03-01T00:00:00Z\n"
            "now           2026-03-02T00:00:00Z\n"
            "jobs          12, 1 running\n"
            "next due      2026-03-02T00:01:00Z\n"
            "tasks         4 pending, 2 running\n"
            "state         /var/lib/krond\n"
            "config        /etc/krond.d\n"
            "config        /srv/x.kron\n"
            "socket        /run/krond/krond.sock\n");
}

TEST(ShowStatus, SaysWhatIsNotWell) {
  EXPECT_THAT(status_shown(R"(,"stopping":true)"), StartsWith("krond         1.2.3, PID 7, stopping\n"));
  EXPECT_THAT(status_shown(R"(,"nextDue":null)"), HasSubstr("next due      never\n"));
  EXPECT_THAT(status_shown(R"(,"clockOffsetSeconds":-1.5)"), HasSubstr("clock offset  -1.5 seconds\n"));
  EXPECT_THAT(status_shown(R"(,"tasks":null,"tasksProblem":"the disk is full")"),
              AllOf(HasSubstr("task queue    waits: the disk is full\n"), Not(HasSubstr("tasks  "))));
  EXPECT_THAT(status_shown(R"(,"notScheduled":[{"identity":"a\u001b","reason":"no zone"}])"),
              AllOf(HasSubstr("not scheduled "), HasSubstr("no zone"), Not(HasSubstr("\x1b"))));
  FakeKrond krond;
  krond.on(kStatus, R"({"version":"1","pid":7,"ready":false})");
  EXPECT_THAT(krond.kron({"status"}).out, StartsWith("krond         1, PID 7, not ready\n"));
}

TEST(ShowStatus, WaitsASecondForWhatNeedsSomebodyAndNoLonger) {
  for (const bool is_json : {false, true}) {
    FakeKrond krond;
    krond.on(kStatus, R"({"version":"1","pid":7,"ready":true,"jobs":12,"running":0})");
    krond.hold("GET /attention");
    const RealClock clock;
    const Nanoseconds began = clock.monotonic();
    const Ran ran = krond.kron(is_json ? Words{"status", "--format", "json"} : Words{"status"});
    const Nanoseconds took = clock.monotonic() - began;
    EXPECT_EQ(ran.status, 0) << "the status is known all the same";
    EXPECT_GE(took, std::chrono::milliseconds(900)) << "a krond that is a little slow is waited for";
    EXPECT_LT(took, std::chrono::seconds(20)) << "as long as any other answer may take is too long";
    if (is_json) {
      EXPECT_THAT(ran.out, AllOf(HasSubstr(R"("pid":7)"), Not(HasSubstr("attention"))));
    } else {
      EXPECT_THAT(ran.out, HasSubstr("attention     not known: krond is busy; ask again in a moment\n"));
    }
    EXPECT_EQ(ran.err, "");
  }
}

constexpr char kAttention[] =
    R"({"now":"2026-03-02T00:00:00Z","jobs":12,"jobsInNeed":2,"items":[)"
    R"({"matter":"not ready","name":"","what":"krond starts nothing","since":null,"count":1,"reason":"the disk is full",)"
    R"("cure":"`kron doctor` looks for the cause"},)"
    R"({"matter":"file refused","name":"a.kron","what":"1 error","since":null,"count":1,"reason":"r","cure":"c"},)"
    R"({"matter":"failing","name":"a","what":"failed 3 times in a row","since":"2026-03-01T00:00:00Z","count":3,)"
    R"("reason":"failed with exit 3","cure":"`kron logs a` shows its output"}],"more":4})";

TEST(ShowStatus, ShowsWhatNeedsSomebodyWithSinceReasonAndCure) {
  FakeKrond krond;
  krond.on(kStatus, R"({"version":"1","pid":7,"ready":true,"jobs":12,"running":0})");
  krond.on("GET /attention", kAttention);
  const std::string out = krond.kron({"status"}).out;
  EXPECT_THAT(out,
              HasSubstr("jobs          12, 0 running\n"
                        "attention     2 of 12 jobs\n"
                        "              krond starts nothing: the disk is full; `kron doctor` looks for the cause\n"));
  EXPECT_THAT(out,
              AllOf(HasSubstr(": failed 3 times in a row since 2026-03-01T00:00:00Z: failed with exit 3; `kron logs a` "
                              "shows its output\n"),
                    HasSubstr("              and 4 more\n"), Not(HasSubstr("1 error"))));
  EXPECT_EQ(
      krond.kron({"status", "--format", "json"}).out,
      R"({"version":"1","pid":7,"ready":true,"jobs":12,"running":0,"attention":)" + std::string(kAttention) + "}\n");
}

TEST(ShowStatus, IsSilentWhenNothingNeedsSomebodyOrKrondDoesNotTell) {
  FakeKrond krond;
  krond.on(kStatus, R"({"version":"1","pid":7,"ready":true})");
  const Ran without = krond.kron({"status"});
  krond.on("GET /attention", R"({"now":"2026-03-02T00:00:00Z","jobs":1,"jobsInNeed":0,"items":[],"more":0})");
  const Ran quiet = krond.kron({"status"});
  EXPECT_EQ(without.status, 0);
  EXPECT_EQ(without.err, "");
  EXPECT_EQ(without.out, quiet.out);
  EXPECT_THAT(quiet.out, Not(HasSubstr("attention")));
}

TEST(ShowStatus, ListsJobFilesThatWereRefusedAndWhatRunsOfThem) {
  const std::string out = status_shown(
      R"(,"jobFiles":{"readAt":"2026-03-01T00:00:00Z","refusedCount":4,"refused":[)"
      R"({"file":"a.kron","line":3,"column":1,"reason":"no such zone","inForce":"earlier"},)"
      R"({"file":"b.kron","line":0,"reason":"not readable","inForce":"none"},)"
      R"({"file":"c.kron","line":9,"column":2,"reason":"bad","inForce":"rest"}],)"
      R"("changedCount":3,"changed":[{"file":"d.kron","change":"added"}],"reloadError":"the directory is gone"})");
  EXPECT_THAT(out, HasSubstr("job files     4 files refused\n"));
  EXPECT_THAT(out, HasSubstr("refused       a.kron:3:1: no such zone; its earlier jobs stay in force\n"));
  EXPECT_THAT(out, HasSubstr("refused       b.kron: not readable; none of its jobs runs\n"));
  EXPECT_THAT(out, HasSubstr("refused       c.kron:9:2: bad; its other jobs run\n"));
  EXPECT_THAT(out, HasSubstr("              and 1 more file\n"));
  EXPECT_THAT(out, HasSubstr("added         d.kron, on disk since 2026-03-01T00:00:00Z; `kron reload` reads it\n"));
  EXPECT_THAT(out, HasSubstr("              and 2 more files\n"));
  EXPECT_THAT(out, HasSubstr("reload        failed, nothing has changed: the directory is gone\n"));
}

TEST(ShowStatus, JobFilesInOrderAreNotWorthALine) {
  EXPECT_THAT(status_shown(R"(,"jobFiles":{"readAt":"T","refusedCount":0,"refused":[],"changedCount":0,"changed":[]})"),
              Not(HasSubstr("file")));
}

TEST(ShowStatus, ShowsTheClusterAndItsHosts) {
  const std::string out = status_shown(
      R"(,"cluster":{"redis":"redis://db:6379","namespace":"{k}","instance":"h1","compat":"kron","linkUp":true,)"
      R"("draining":false,"timezone":"Europe/Paris","clockOffsetSeconds":0.0125,"lostWrites":2,)"
      R"("warnings":[{"severity":"error","message":"appendonly is\u0007 off"}],)"
      R"("hosts":[{"instance":"h1","ip":"10.0.0.1","version":"1.2.3","running":2,"draining":false,)"
      R"("beatSecondsAgo":0.5},{"instance":"h2","ip":"10.0.0.2","version":"1.2.2","running":0,"draining":true,)"
      R"("beatSecondsAgo":61}]})");
  EXPECT_THAT(out, HasSubstr("cluster       redis://db:6379 {k}, as h1, kron\n"));
  EXPECT_THAT(out, HasSubstr("time zone     Europe/Paris\n"));
  EXPECT_THAT(out, HasSubstr("Redis clock   0.013 seconds ahead of this machine's\n"));
  EXPECT_THAT(out, HasSubstr("lost writes   2\n"));
  EXPECT_THAT(out, AllOf(HasSubstr("error  "), Not(HasSubstr("\a"))));
  EXPECT_THAT(out, HasSubstr("host          h1, 10.0.0.1, krond 1.2.3, 2 running, seen 0.500s ago\n"));
  EXPECT_THAT(out, HasSubstr("host          h2, 10.0.0.2, krond 1.2.2, 0 running, draining, seen 61.000s ago\n"));
}

TEST(ShowStatus, AClusterThatIsAwayAndNotJoined) {
  const std::string out = status_shown(
      R"(,"cluster":{"redis":"r","namespace":"n","instance":"","compat":"kron","linkUp":false,"draining":true,)"
      R"("notReady":"Redis does not answer","lostWrites":0})");
  EXPECT_THAT(out, HasSubstr("cluster       r n, not joined, kron, no connection, draining\n"));
  EXPECT_THAT(out, HasSubstr("not ready     Redis does not answer\n"));
  EXPECT_THAT(out, Not(HasSubstr("lost writes")));
}

TEST(ShowStatus, AnOlderKrondIsAskedWithoutTheChanges) {
  FakeKrond krond;
  krond.refuse(kStatus, {Code::invalid, "there is no parameter 'changes'"});
  krond.on("GET /status", R"({"version":"0.9","pid":7})");
  EXPECT_THAT(krond.kron({"status"}).out, StartsWith("krond         0.9, PID 7"));
  EXPECT_THAT(krond.asked(), ElementsAre(kStatus, "GET /status", "GET /attention"));
}

TEST(ShowStatus, JsonIsAsKrondSentItInOneLine) {
  FakeKrond krond;
  krond.on(kStatus, "{\"version\": \"1\",  \"unknown\": 3}\n\n");
  EXPECT_EQ(krond.kron({"status", "--format", "json"}).out, "{\"version\": \"1\",  \"unknown\": 3}\n");
}

TEST(Reload, CountsTheJobs) {
  FakeKrond krond;
  krond.on("POST /reload", R"({"jobs":1,"keptFiles":[],"problems":[]})");
  EXPECT_EQ(krond.kron({"reload"}).out, "1 job\n");
  FakeKrond other;
  other.on("POST /reload", R"({"jobs":0,"keptFiles":[],"problems":[]})");
  EXPECT_EQ(other.kron({"reload"}).out, "0 jobs\n");
}

TEST(Reload, WarningsAreToldAndErrorsAreStatusOne) {
  FakeKrond krond;
  krond.on("POST /reload", R"({"jobs":3,"problems":[{"file":"a.kron","line":2,"column":5,"severity":"warning",)"
                           R"("message":"it runs\u001b[1m twice"}]})");
  const Ran warned = krond.kron({"reload"});
  EXPECT_EQ(warned.status, 0);
  EXPECT_EQ(warned.out, "3 jobs\n");
  EXPECT_THAT(warned.err, AllOf(StartsWith("a.kron:2:5: warning: "), Not(HasSubstr("\x1b"))));
  FakeKrond other;
  other.on("POST /reload", R"({"jobs":3,"keptFiles":["a.kron"],"problems":[{"file":"a.kron","line":0,"column":0,)"
                           R"("severity":"error","message":"not readable"}]})");
  const Ran refused = other.kron({"reload"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_EQ(refused.err, "a.kron: error: not readable\na.kron: its earlier jobs stay in force\n");
  EXPECT_EQ(refused.out, "3 jobs\n");
  EXPECT_EQ(other.kron({"reload", "--format", "json"}).status, 1) << "in any format";
}

}  // namespace
}  // namespace kron::cli
