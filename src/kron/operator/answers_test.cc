#include "kron/operator/answers.h"

#include <gtest/gtest.h>

#include "kron/kube/fake/api_server.h"
#include "kron/kube/fake/node_edit.h"
#include "kron/operator/fake/samples.h"
#include "kron/operator/job_body.h"

namespace kron::kronjobs {
namespace {

using testing::kNoon;
using testing::zones;

class LeftOutOfAnswers : public ::testing::Test {
 protected:
  LeftOutOfAnswers() { server.now = testing::at("2026-03-01T11:59:00Z"); }

  [[nodiscard]] static Node with_fields(const Node& object) {
    return kube::with_text(object, {"metadata", "managedFields"}, std::string(500, 'x'));
  }
  static kube::Response answer(const Node& object) {
    return {.code = 200, .body = JsonWriter().node(with_fields(object)).take()};
  }
  static Node read(const Node& object, const Step& step, const KronJobView* known) {
    return std::get<kube::Answer>(kube::reply_of(answer(object), left_out_of(step, known))).body;
  }

  kube::ApiServer server;
  Node kron_job = server.create("kronjobs", testing::KronJobText{.window = "1h"}.object()).body;
  KronJobView view = view_kron_job(kron_job, zones()).value();
};

TEST_F(LeftOutOfAnswers, IsNothingThatIsKnownOfAJob) {
  const std::string body = period_job_body(view, decide(*view.job, kNoon), GateKind::ours).value();
  Node job = server.create("jobs", parse_json(body).value()).body;
  job = kube::with(job, {"spec", "template", "spec", "terminationGracePeriodSeconds"}, Node(std::int64_t{77}));
  job = kube::with(
      job, {"status", "conditions"},
      parse_json(R"([{"type":"Complete","status":"True","lastTransitionTime":"2026-03-01T12:05:00Z"}])").value());
  const JobView whole = view_job(job).value();
  EXPECT_EQ(whole.grace, Seconds(77));
  EXPECT_TRUE(whole.seed_hash && whole.gate && whole.is_finished());
  for (const Step& step : {Step(Create{"a", "{}"}), Step(Open{"a", "u"}), Step(Remove{"a", "u"}), Step(ReadJob{"a"})}) {
    const Node left = read(job, step, &view);
    EXPECT_EQ(view_job(left).value(), whole);
    EXPECT_EQ(kube::node_at(left, {"spec", "template", "spec", "containers"}), nullptr);
    EXPECT_EQ(kube::node_at(left, {"metadata", "managedFields"}), nullptr);
  }
}

TEST_F(LeftOutOfAnswers, IsTheSpecOfAKronJobOnlyWhileItIsKnown) {
  const Node recorded = kube::with(kron_job, {"status", "observedGeneration"}, Node(std::int64_t{1}));
  for (const Step& step : {Step(WriteStatus{}), Step(ReadKronJob{"u"})}) {
    const Node left = read(recorded, step, &view);
    EXPECT_EQ(kube::node_at(left, {"spec"}), nullptr);
    const KronJobView known = view_kron_job(left, zones(), &view).value();
    EXPECT_EQ(known.status.observed_generation, 1);
    EXPECT_EQ(known.job_template, view.job_template);
    EXPECT_EQ(known.problem, "");

    const Node edited = kube::with(recorded, {"metadata", "generation"}, Node(std::int64_t{2}));
    const Node other = kube::with_text(recorded, {"metadata", "uid"}, "another");
    for (const Node& news : {read(edited, step, &view), read(other, step, &view), read(recorded, step, nullptr)}) {
      EXPECT_EQ(kube::text_at(news, {"spec", "schedule"}), "* * * * *");
    }
  }
}

TEST_F(LeftOutOfAnswers, IsNothingOfARefusal) {
  const kube::Answer refused = server.handle({.path = "/apis/batch/v1/namespaces/shop/jobs/none"});
  const kube::Response response = kube::ApiServer::response_of(refused);
  const kube::Reply reply = kube::reply_of(response, left_out_of(ReadJob{"none"}, nullptr));
  EXPECT_TRUE(kube::is_same(&std::get<kube::Answer>(reply).body, &refused.body));
}

}  // namespace
}  // namespace kron::kronjobs
