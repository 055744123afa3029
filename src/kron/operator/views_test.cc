#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/kube/fake/node_edit.h"
#include "kron/operator/fake/samples.h"
#include "kron/operator/job_view.h"
#include "kron/operator/kron_job.h"

namespace kron::kronjobs {
namespace {

using testing::at;
using ::testing::HasSubstr;
using testing::KronJobText;
using testing::zones;

Node stored(const Node& object) {
  Node made = kube::with_text(object, {"metadata", "uid"}, "uid-1");
  made = kube::with_text(made, {"metadata", "resourceVersion"}, "17");
  made = kube::with(made, {"metadata", "generation"}, Node(std::int64_t{4}));
  return kube::with_text(made, {"metadata", "creationTimestamp"}, "2026-03-01T00:00:00Z");
}

KronJobView view_of(const KronJobText& text) { return view_kron_job(stored(text.object()), zones()).value(); }

KronJobView view_with(kube::Path path, std::string_view json) {
  return view_kron_job(stored(kube::with(KronJobText().object(), path, parse_json(json).value())), zones()).value();
}

TEST(KronJobView, HoldsWhatTheOperatorNeeds) {
  const KronJobView view = view_of({.window = "10m", .concurrency = "replace", .deadline = "1h"});
  EXPECT_EQ(view.identity, "shop/report");
  EXPECT_EQ(view.meta.generation, 4);
  EXPECT_EQ(view.meta.created, at("2026-03-01T00:00:00Z"));
  ASSERT_TRUE(view.job) << view.problem;
  EXPECT_EQ(view.job->identity, "shop/report");
  EXPECT_EQ(view.job->policy.concurrency, Concurrency::replace);
  EXPECT_EQ(view.job->policy.deadline, Seconds(3600));
  EXPECT_EQ(view.successful_limit, 3);
  EXPECT_FALSE(view.foreign_gate);
  EXPECT_THAT(view.job_template, HasSubstr(R"("restartPolicy":"Never")"));
}

TEST(KronJobView, ReadsASpecOnceForEachGeneration) {
  const KronJobView before = view_of({.window = "10m"});
  // What no server does: another spec of the same generation. It shows that this one was not read.
  const Node other = stored(KronJobText{.window = "20m"}.object());
  EXPECT_EQ(view_kron_job(other, zones(), &before)->job->window, before.job->window);
  EXPECT_EQ(view_kron_job(other, zones(), &before)->job_template, before.job_template);
  const auto changed = [&](kube::Path path, Node value) {
    return view_kron_job(kube::with(other, path, std::move(value)), zones(), &before).value();
  };
  const WindowSpec twenty = view_of({.window = "20m"}).job->window;
  EXPECT_EQ(changed({"metadata", "generation"}, Node(std::int64_t{5})).job->window, twenty);
  EXPECT_EQ(changed({"metadata", "uid"}, Node(std::string("uid-2"))).job->window, twenty);
  EXPECT_EQ(changed({"metadata", "name"}, Node(std::string("other"))).job->window, twenty);
  // Its metadata and its status are read each time.
  EXPECT_EQ(changed({"metadata", "resourceVersion"}, Node(std::string("18"))).meta.resource_version, "18");
  EXPECT_FALSE(changed({"status"}, parse_json(R"({"handled":5})").value()).status_problem.empty());
  KronJobView uncounted = before;
  uncounted.meta.generation = 0;
  EXPECT_EQ(view_kron_job(kube::without(other, {"metadata", "generation"}), zones(), &uncounted)->job->window, twenty);
}

TEST(KronJobView, ReadsConstraintsWhereTheyStand) {
  const KronJobView view = view_with({"spec", "constraints"}, R"({"only":{"hours":["9-17"]},
      "avoid":{"calendar":["holidays"]},"calendars":{"holidays":["2026-12-24..2026-12-26"]}})");
  ASSERT_TRUE(view.job) << view.problem;
  EXPECT_NE(view.job->constraints.only.hours, 0U);
  ASSERT_EQ(view.job->constraints.avoid.calendars.size(), 1U);
}

TEST(KronJobView, SaysAllThatIsWrongWithASpec) {
  const KronJobView several = view_with({"spec"}, R"({"schedule":"61 * * * *","timezone":"Mars/Base",
      "jobTemplate":{"spec":{"template":{}}}})");
  EXPECT_FALSE(several.job);
  EXPECT_THAT(several.problem, HasSubstr("spec.schedule: "));
  EXPECT_THAT(several.problem, HasSubstr("spec.timezone: "));
  EXPECT_THAT(view_with({"spec", "schedule"}, R"("@reboot")").problem, HasSubstr("a cluster does not boot"));
  EXPECT_THAT(view_with({"spec", "schedule"}, R"("TZ=UTC * * * * *")").problem, HasSubstr("spec.timezone"));
  EXPECT_THAT(view_with({"spec", "policy"}, R"({"concurrency":"queue","deadline":"1h"})").problem,
              HasSubstr("queue is for krond only"));
  EXPECT_THAT(view_with({"spec", "policy"}, R"({"pauseAfter":3})").problem, HasSubstr("spec.policy.pauseAfter"));
  EXPECT_THAT(view_with({"spec", "policy"}, R"({"catchUpSpread":"1m"})").problem,
              HasSubstr("spec.policy.catchUpSpread"));
  EXPECT_THAT(view_with({"spec", "ping"}, R"("https://hc.example/x")").problem, HasSubstr("spec.ping"));
  EXPECT_THAT(view_with({"spec", "jobTemplate"}, "{}").problem, HasSubstr("spec.jobTemplate"));
  EXPECT_THAT(view_with({"spec", "constraints"}, R"({"only":{"hours":["25"]}})").problem,
              HasSubstr("spec.constraints.only.hours"));
  EXPECT_THAT(view_with({"spec", "failedJobsHistoryLimit"}, "-1").problem, HasSubstr("failedJobsHistoryLimit"));
  EXPECT_THAT(view_with({"spec", "window", "duration"}, R"("1w")").problem, HasSubstr("spec."))
      << "more than 256 periods would be open";
  EXPECT_THAT(view_of({.name = std::string(64, 'a')}).problem, HasSubstr("metadata.name"));
  EXPECT_THAT(view_with({"spec"}, "null").problem, HasSubstr("a spec"));
}

TEST(KronJobView, IsSuspendedEvenWhenTheRestCannotBeRead) {
  EXPECT_TRUE(view_of({.schedule = "no", .suspend = true}).suspended);
}

TEST(KronJobView, KnowsAnothersGate) {
  EXPECT_TRUE(view_with({"spec", "jobTemplate", "spec", "suspend"}, "true").foreign_gate);
  EXPECT_TRUE(view_with({"spec", "jobTemplate", "spec", "managedBy"}, R"("example.com/x")").foreign_gate);
  EXPECT_TRUE(
      view_with({"spec", "jobTemplate", "metadata", "labels", "kueue.x-k8s.io/queue-name"}, R"("q")").foreign_gate);
}

TEST(KronJobView, RefusesWhatNoServerHasStored) {
  for (const std::string_view field : {"namespace", "name", "uid", "resourceVersion", "creationTimestamp"}) {
    const Result<KronJobView> view =
        view_kron_job(kube::without(stored(KronJobText().object()), {"metadata", field}), zones());
    ASSERT_FALSE(view) << field;
    EXPECT_EQ(view.error().field, "metadata." + std::string(field));
  }
  EXPECT_FALSE(view_kron_job(Node(std::string("text")), zones()));
}

TEST(KronJobView, AStatusThatCannotBeReadIsSaid) {
  EXPECT_THAT(view_with({"status"}, R"({"handled":{"through":"x"}})").status_problem, HasSubstr("handled.through"));
}

Node job_object(std::string_view more) {
  return parse_json(R"({"metadata":{"namespace":"shop","name":"report-1","uid":"uid-9","resourceVersion":"3",
      "creationTimestamp":"2026-03-01T12:00:00Z","annotations":{"kron.io/identity":"shop/report",
      "kron.io/period-id":"2026-03-01T12:00:00Z","kron.io/gate":"4"},"ownerReferences":[{"kind":"Other","uid":"x",
      "controller":true},{"kind":"KronJob","uid":"uid-1","controller":true}]})" +
                    std::string(more) + "}")
      .value();
}

TEST(JobView, IsAtItsGateWhileItHasTheMarkAndIsSuspended) {
  const JobView view = view_job(job_object(R"(,"spec":{"suspend":true})")).value();
  EXPECT_TRUE(view.is_at_gate());
  EXPECT_EQ(view.owner_uid, "uid-1");
  EXPECT_EQ(view.identity, "shop/report");
  EXPECT_EQ(view.period, at("2026-03-01T12:00:00Z"));
  EXPECT_EQ(view.grace, Seconds(30));
  EXPECT_FALSE(view_job(job_object(R"(,"spec":{"suspend":false})")).value().is_at_gate());
  EXPECT_FALSE(view_job(job_object("")).value().is_at_gate());
}

TEST(JobView, EndsByTheConditionsThatEndJobs) {
  const auto end_of = [](std::string_view conditions) {
    return view_job(job_object(R"(,"status":{"conditions":)" + std::string(conditions) + "}")).value();
  };
  EXPECT_EQ(end_of(R"([{"type":"SuccessCriteriaMet","status":"True"}])").end, JobView::End::none);
  EXPECT_EQ(end_of(R"([{"type":"FailureTarget","status":"True"},{"type":"Failed","status":"True"}])").end,
            JobView::End::failed);
  EXPECT_EQ(end_of(R"([{"type":"Complete","status":"False"}])").end, JobView::End::none);
  const JobView complete =
      end_of(R"([{"type":"Complete","status":"True","lastTransitionTime":"2026-03-01T12:05:00Z"}])");
  EXPECT_EQ(complete.end, JobView::End::complete);
  EXPECT_EQ(complete.ended_at, at("2026-03-01T12:05:00Z"));
}

TEST(JobView, KnowsWhatItsTimeWasDrawnFrom) {
  const std::string hash = hex(sha256({"seed"}));
  const auto with_hash = [](const std::string& text) {
    return kube::with_text(job_object(""), {"metadata", "annotations", "kron.io/seed-hash"}, text);
  };
  EXPECT_EQ(view_job(with_hash(hash)).value().seed_hash, sha256({"seed"}));
  EXPECT_FALSE(view_job(with_hash("somebody's text")).value().seed_hash);
  EXPECT_FALSE(view_job(job_object("")).value().seed_hash);
}

TEST(JobView, RefusesAPeriodThatIsNoTime) {
  const Node broken = kube::with_text(job_object(""), {"metadata", "annotations", "kron.io/period-id"}, "noon");
  EXPECT_EQ(view_job(broken).error().field, "kron.io/period-id");
}

}  // namespace
}  // namespace kron::kronjobs
