#include "kron/operator/counted_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/env/fake/fake_clock.h"
#include "kron/kube/fake/scripted_transport.h"
#include "kron/operator/fake/samples.h"

namespace kron::kronjobs {
namespace {

using kube::Verb;
using ::testing::HasSubstr;

TEST(CountedTransport, CallsRequestsByTheWordsOfKubernetes) {
  const auto kind = [](Verb verb, std::string path, std::string query = {}) {
    const RequestKind found = kind_of({.verb = verb, .path = std::move(path), .query = std::move(query)});
    return std::string(found.verb) + " " + found.resource;
  };
  EXPECT_EQ(kind(Verb::get, "/apis/batch/v1/jobs", "limit=500"), "list jobs");
  EXPECT_EQ(kind(Verb::get, "/apis/batch/v1/namespaces/shop/jobs"), "list jobs");
  EXPECT_EQ(kind(Verb::get, "/apis/kron.io/v1alpha1/kronjobs", "watch=1&x=1"), "watch kronjobs");
  EXPECT_EQ(kind(Verb::get, "/apis/batch/v1/namespaces/shop/jobs/report"), "get jobs");
  EXPECT_EQ(kind(Verb::create, "/apis/batch/v1/namespaces/shop/jobs"), "create jobs");
  EXPECT_EQ(kind(Verb::create, "/apis/batch/v1/namespaces/shop/jobs", "dryRun=All"), "dry-run jobs");
  EXPECT_EQ(kind(Verb::update, "/apis/kron.io/v1alpha1/namespaces/shop/kronjobs/report/status"),
            "update kronjobs/status");
  EXPECT_EQ(kind(Verb::patch, "/apis/batch/v1/namespaces/shop/jobs/report"), "patch jobs");
  EXPECT_EQ(kind(Verb::remove, "/apis/batch/v1/namespaces/shop/jobs/report"), "delete jobs");
  EXPECT_EQ(kind(Verb::get, "/version"), "list other");
}

TEST(CountedTransport, CountsWhatEndsAndComparesTheClocks) {
  testing::FakeClock clock(testing::kNoon);
  testing::ScriptedTransport way;
  metrics::OperatorMetrics metrics("1", testing::kNoon);
  CountedTransport transport(way, clock, metrics);
  int ends = 0;
  const auto ask = [&] {
    transport.send({.path = "/apis/batch/v1/namespaces/shop/jobs/report"}, kube::Lane::call,
                   [&](const kube::Outcome&) { ++ends; });
  };
  ask();
  way.end(kube::Response{.code = 200, .date = testing::kNoon + Seconds(7)});
  ask();
  way.end(kube::Broken{kube::Failure::not_sent});
  ask();
  way.end(kube::Broken{kube::Failure::unknown});
  transport.cancel(transport.open({.path = "/apis/batch/v1/jobs", .query = "watch=1"}, {}, {}));
  EXPECT_EQ(way.under_way(), 0U);
  EXPECT_EQ(ends, 3);
  EXPECT_EQ(transport.clock_skew(), std::chrono::milliseconds(7'500));
  EXPECT_THAT(metrics.text(), HasSubstr("kron_clock_skew_seconds 7.5\n"));
  EXPECT_THAT(metrics.text(), HasSubstr("{code=\"200\",resource=\"jobs\",verb=\"get\"} 1\n"));
  EXPECT_THAT(metrics.text(), HasSubstr("{code=\"not_sent\",resource=\"jobs\",verb=\"get\"} 1\n"));
  EXPECT_THAT(metrics.text(), HasSubstr("{code=\"unknown\",resource=\"jobs\",verb=\"get\"} 1\n"));
}

}  // namespace
}  // namespace kron::kronjobs
