#include "kron/operator/job_body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/json/decide_request.h"
#include "kron/kube/fake/api_server.h"
#include "kron/operator/fake/samples.h"
#include "kron/operator/names.h"

namespace kron::kronjobs {
namespace {

using kube::annotation_of;
using kube::node_at;
using kube::text_at;
using testing::at;
using testing::kNoon;
using testing::zones;

KronJobView sample_view(const testing::KronJobText& text) {
  kube::ApiServer server;
  server.now = at("2026-03-01T00:00:00Z");
  return view_kron_job(server.create("kronjobs", text.object()).body, zones()).value();
}

Node body_of(const testing::KronJobText& text, GateKind gate = GateKind::ours) {
  const KronJobView view = sample_view(text);
  return parse_json(period_job_body(view, decide(*view.job, kNoon), gate).value()).value();
}

TEST(JobBody, HasTheMarksOfItsPeriodAndWaitsAtItsGate) {
  const Node body = body_of({.window = "1h"});
  EXPECT_EQ(text_at(body, {"metadata", "name"}), job_name("shop", "report", kNoon));
  EXPECT_EQ(text_at(body, {"metadata", "namespace"}), "shop");
  EXPECT_EQ(text_at(body, {"metadata", "labels", "kron.io/name"}), "report");
  EXPECT_EQ(text_at(body, {"metadata", "labels", "team"}), "a");
  EXPECT_EQ(annotation_of(body, kGate), "1");
  EXPECT_EQ(annotation_of(body, kIdentity), "shop/report");
  EXPECT_EQ(annotation_of(body, kPeriodId), "2026-03-01T12:00:00Z");
  EXPECT_EQ(annotation_of(body, kTrigger), "schedule");
  EXPECT_TRUE(kube::is_true_at(body, {"spec", "suspend"}));
  EXPECT_EQ(kube::controller_uid(body, kKind), sample_view({}).meta.uid);
  const Node* pods = node_at(body, {"spec", "template"});
  EXPECT_EQ(annotation_of(*pods, kPeriodId), "2026-03-01T12:00:00Z");
  EXPECT_EQ(annotation_of(*pods, kChosenTime), annotation_of(body, kChosenTime));
  EXPECT_EQ(text_at(*pods, {"spec", "restartPolicy"}), "Never");
}

TEST(JobBody, CarriesARequestThatMakesTheSameDecision) {
  const testing::KronJobText text{.window = "1h", .salt = "x"};
  const KronJobView view = sample_view(text);
  const Result<DecideRequest> request =
      parse_decide_request(annotation_of(body_of(text), kDecision).value_or(""), zones());
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(decide(request->job, request->nominal), decide(*view.job, kNoon));
}

TEST(JobBody, OverrulesWhatTheTemplateSaysUnderOurNames) {
  const Node body = body_of({.job_template = R"({"metadata":{"labels":{"kron.io/name":"x","kron.io/more":"y"},
      "annotations":{"kron.io/gate":"9","mine":"kept"}},"spec":{"suspend":false,"backoffLimit":2,
      "template":{"metadata":{"labels":{"l":"1"},"annotations":{"kron.io/trigger":"x","a":"b"}},"spec":{}}}})"});
  EXPECT_EQ(text_at(body, {"metadata", "labels", "kron.io/name"}), "report");
  EXPECT_EQ(node_at(body, {"metadata", "labels", "kron.io/more"}), nullptr);
  EXPECT_EQ(annotation_of(body, kGate), "1");
  EXPECT_EQ(annotation_of(body, "mine"), "kept");
  EXPECT_TRUE(kube::is_true_at(body, {"spec", "suspend"}));
  EXPECT_EQ(kube::integer_at(body, {"spec", "backoffLimit"}), 2);
  const Node* pods = node_at(body, {"spec", "template"});
  EXPECT_EQ(text_at(*pods, {"metadata", "labels", "l"}), "1");
  EXPECT_EQ(annotation_of(*pods, "a"), "b");
  EXPECT_EQ(annotation_of(*pods, kTrigger), "schedule");
}

TEST(JobBody, HasNoMarkOfOurGateAtAnothers) {
  const Node body = body_of({}, GateKind::foreign);
  EXPECT_FALSE(annotation_of(body, kGate));
  EXPECT_TRUE(kube::is_true_at(body, {"spec", "suspend"}));
}

TEST(JobBody, OfARunByHandHasNoPeriod) {
  const Node body = parse_json(manual_job_body(sample_view({}), "token", GateKind::ours).value()).value();
  EXPECT_EQ(text_at(body, {"metadata", "name"}), manual_job_name("shop", "report", "token"));
  EXPECT_FALSE(annotation_of(body, kPeriodId));
  EXPECT_EQ(annotation_of(body, kTrigger), "manual");
}

TEST(JobBody, OfATrialIsNotSuspended) {
  const Node body = parse_json(trial_job_body(sample_view({})).value()).value();
  EXPECT_FALSE(kube::is_true_at(body, {"spec", "suspend"}));
  EXPECT_NE(node_at(body, {"spec", "suspend"}), nullptr);
}

TEST(JobBody, CarriesOnlyTheDatesNearTheWindow) {
  Job job = *sample_view({.window = "1h"}).job;
  const Window window = decide(job, kNoon).window;
  job.constraints.avoid.dates = {{20250101, 20250102}, {20260301, 20260301}, {20270101, 20270101}};
  job.constraints.only.dates = {{20250101, 20250102}, {20270101, 20270101}};
  const Job near = with_dates_near(job, window);
  EXPECT_EQ(near.constraints.avoid.dates, (std::vector<DateRange>{{20260301, 20260301}}));
  EXPECT_EQ(near.constraints.only.dates.size(), 1U) << "none at all would allow every date";
  EXPECT_EQ(decide(near, kNoon), decide(job, kNoon));
}

}  // namespace
}  // namespace kron::kronjobs
