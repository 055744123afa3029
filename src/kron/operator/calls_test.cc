#include "kron/operator/calls.h"

#include <gtest/gtest.h>

#include "kron/operator/fake/samples.h"

namespace kron::kronjobs {
namespace {

using kube::Request;
using kube::Verb;

const kube::ObjectMeta kMeta{.ns = "shop", .name = "report", .uid = "uid-1", .resource_version = "17"};

TEST(OperatorCalls, AJobIsCreatedInItsNamespace) {
  EXPECT_EQ(request_of(Create{"report-1", R"({"metadata":{}})"}, kMeta),
            (Request{Verb::create, "/apis/batch/v1/namespaces/shop/jobs", "",
                     R"({"apiVersion":"batch/v1","kind":"Job","metadata":{}})"}));
}

TEST(OperatorCalls, ATrialIsADryRun) {
  const Request request = request_of(TryTemplate{1, R"({"metadata":{}})"}, kMeta);
  EXPECT_EQ(request.query, "dryRun=All&fieldValidation=Strict");
  EXPECT_EQ(request_of(TryTemplate{1, "{}"}, kMeta).body, R"({"apiVersion":"batch/v1","kind":"Job"})");
}

TEST(OperatorCalls, AnotherKindCanTakeThePlaceOfJobs) {
  const JobApi api{.group_version = "test.kron.io/v1", .kind = "TestJob", .plural = "testjobs"};
  const Request request = request_of(Create{"a", R"({"metadata":{}})"}, kMeta, api);
  EXPECT_EQ(request.path, "/apis/test.kron.io/v1/namespaces/shop/testjobs");
  EXPECT_EQ(request.body, R"({"apiVersion":"test.kron.io/v1","kind":"TestJob","metadata":{}})");
}

TEST(OperatorCalls, AStatusIsWrittenWithTheVersionThatWasSeen) {
  const Request request = request_of(WriteStatus{{.observed_generation = 4}}, kMeta);
  EXPECT_EQ(request.verb, Verb::update);
  EXPECT_EQ(request.path, "/apis/kron.io/v1alpha1/namespaces/shop/kronjobs/report/status");
  EXPECT_EQ(request.body,
            R"({"apiVersion":"kron.io/v1alpha1","kind":"KronJob","metadata":{"name":"report","namespace":"shop",)"
            R"("resourceVersion":"17"},"status":{"observedGeneration":4,"activeCount":0}})");
}

TEST(OperatorCalls, AGateIsOpenedOnceAndOnlyForItsUid) {
  EXPECT_EQ(request_of(Open{"report-1", "uid-9"}, kMeta),
            (Request{Verb::patch, "/apis/batch/v1/namespaces/shop/jobs/report-1", "",
                     R"([{"op":"test","path":"/metadata/uid","value":"uid-9"},)"
                     R"({"op":"remove","path":"/metadata/annotations/kron.io~1gate"},)"
                     R"({"op":"add","path":"/spec/suspend","value":false}])"}));
}

TEST(OperatorCalls, ARemovalSaysWhatItMeans) {
  EXPECT_EQ(request_of(Remove{"report-1", "uid-9", "31"}, kMeta).body,
            R"({"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Background",)"
            R"("preconditions":{"uid":"uid-9","resourceVersion":"31"}})");
  EXPECT_EQ(request_of(Remove{"report-1", "uid-9", "", Propagation::foreground}, kMeta).body,
            R"({"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Foreground",)"
            R"("preconditions":{"uid":"uid-9"}})");
}

TEST(OperatorCalls, AReadGoesByName) {
  EXPECT_EQ(request_of(ReadJob{"report-1", "uid-9"}, kMeta),
            (Request{Verb::get, "/apis/batch/v1/namespaces/shop/jobs/report-1"}));
  EXPECT_EQ(request_of(ReadKronJob{"uid-1"}, kMeta),
            (Request{Verb::get, "/apis/kron.io/v1alpha1/namespaces/shop/kronjobs/report"}));
}

}  // namespace
}  // namespace kron::kronjobs
