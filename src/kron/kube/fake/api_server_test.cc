#include "kron/kube/fake/api_server.h"

#include <gtest/gtest.h>

#include "kron/base/rfc3339.h"
#include "kron/json/writer.h"
#include "kron/kube/api_error.h"
#include "kron/kube/fake/json_patch.h"
#include "kron/kube/object.h"

namespace kron::kube {
namespace {

constexpr std::string_view kJobs = "/apis/batch/v1/namespaces/shop/jobs";
constexpr std::string_view kKronJob = "/apis/kron.io/v1alpha1/namespaces/shop/kronjobs/report";

class ApiServerTest : public ::testing::Test {
 protected:
  ApiServerTest() {
    server.now = parse_rfc3339("2026-03-01T12:00:00Z").value();
    server.create("kronjobs", parse_json(R"({"metadata":{"namespace":"shop","name":"report"},"spec":{"a":1},
        "status":{"dropped":true}})")
                                  .value());
  }

  Answer call(Verb verb, std::string path, std::string body = {}, std::string query = {}) {
    return server.handle({verb, std::move(path), std::move(query), std::move(body)});
  }
  Answer create_job(std::string_view spec = R"({"suspend":true,"template":{}})", std::string query = {}) {
    return call(
        Verb::create, std::string(kJobs),
        R"({"metadata":{"name":"a","annotations":{"kron.io/gate":"1","kron.io/identity":"shop/report"}},"spec":)" +
            std::string(spec) + "}",
        std::move(query));
  }
  Answer patch(std::string body) { return call(Verb::patch, std::string(kJobs) + "/a", std::move(body)); }
  Answer remove(std::string body) { return call(Verb::remove, std::string(kJobs) + "/a", std::move(body)); }
  std::string uid() const { return text_at(*server.find("jobs", "shop", "a"), {"metadata", "uid"}); }
  std::string version() const { return text_at(*server.find("jobs", "shop", "a"), {"metadata", "resourceVersion"}); }
  std::string kron_version() const {
    return text_at(*server.find("kronjobs", "shop", "report"), {"metadata", "resourceVersion"});
  }
  Answer put(std::string_view version, std::string_view status) {
    return call(Verb::update, std::string(kKronJob) + "/status",
                R"({"metadata":{"name":"report","namespace":"shop","resourceVersion":")" + std::string(version) +
                    R"("},"status":)" + std::string(status) + "}");
  }

  ApiServer server;
};

TEST_F(ApiServerTest, AnObjectGetsUidVersionGenerationAndTime) {
  const Answer made = create_job();
  EXPECT_EQ(made.code, 201);
  EXPECT_TRUE(metadata_of(made.body));
  EXPECT_EQ(metadata_of(made.body)->generation, 1);
  EXPECT_EQ(server.events().back().type, ApiServer::Event::Type::added);
}

TEST_F(ApiServerTest, ANameIsUniqueWhileTheObjectExists) {
  create_job();
  EXPECT_EQ(error_in(create_job())->reason, "AlreadyExists");
  const std::string before = uid();
  remove(R"({"propagationPolicy":"Foreground"})");
  const auto deleting = error_in(create_job());
  EXPECT_EQ(deleting->code, 409);
  EXPECT_TRUE(deleting->message.starts_with("object is being deleted"));
  server.collect_garbage();
  EXPECT_EQ(create_job().code, 201);
  EXPECT_NE(uid(), before);
}

TEST_F(ApiServerTest, ADryRunCreatesNothing) {
  EXPECT_EQ(create_job(R"({"template":{}})", "dryRun=All").code, 201);
  EXPECT_EQ(server.find("jobs", "shop", "a"), nullptr);
  EXPECT_EQ(create_job("{}", "dryRun=All").code, 422);
}

TEST_F(ApiServerTest, AStatusIsWrittenByCompareAndSet) {
  const std::string before = kron_version();
  EXPECT_EQ(put(before, R"({"x":1})").code, 200);
  EXPECT_NE(kron_version(), before);
  EXPECT_EQ(error_in(put(before, R"({"x":2})"))->reason, "Conflict");
  EXPECT_EQ(put("", R"({"x":2})").code, 422);
  const auto object = server.find("kronjobs", "shop", "report");
  EXPECT_EQ(integer_at(*object, {"status", "x"}), 1);
  EXPECT_EQ(integer_at(*object, {"spec", "a"}), 1) << "nothing else is touched";
  EXPECT_EQ(metadata_of(*object)->generation, 1);
  const std::string now = kron_version();
  put(now, R"({"x":1})");
  EXPECT_EQ(kron_version(), now) << "what changes nothing is no new version";
}

TEST_F(ApiServerTest, AStatusThatTheSchemaDoesNotTakeIsRefused) {
  std::string many = "1";
  for (int i = 0; i < 16; ++i) many += ",1";
  EXPECT_EQ(put(kron_version(), R"({"starting":[)" + many + "]}").code, 422);
}

TEST_F(ApiServerTest, APatchIsAllOrNothing) {
  create_job();
  const std::string open = R"([{"op":"test","path":"/metadata/uid","value":")" + uid() +
                           R"("},{"op":"remove","path":"/metadata/annotations/kron.io~1gate"},)" +
                           R"({"op":"add","path":"/spec/suspend","value":false}])";
  EXPECT_EQ(
      patch(R"([{"op":"add","path":"/spec/suspend","value":false},{"op":"test","path":"/metadata/uid","value":"x"}])")
          .code,
      422);
  EXPECT_TRUE(server.started().empty());
  EXPECT_EQ(patch(open).code, 200);
  EXPECT_EQ(server.started().size(), 1U);
  EXPECT_EQ(patch(open).code, 422) << "its mark is gone";
  EXPECT_EQ(call(Verb::patch, std::string(kJobs) + "/none", open).code, 404);
}

TEST_F(ApiServerTest, ADeletionHasPreconditions) {
  create_job();
  EXPECT_EQ(remove(R"({"preconditions":{"uid":"x"}})").code, 409);
  EXPECT_EQ(remove(R"({"preconditions":{"uid":")" + uid() + R"(","resourceVersion":"1"}})").code, 409);
  EXPECT_EQ(remove(R"({"preconditions":{"uid":")" + uid() + R"(","resourceVersion":")" + version() + R"("}})").code,
            200);
  EXPECT_EQ(remove("{}").code, 404);
  EXPECT_EQ(server.events().back().type, ApiServer::Event::Type::deleted);
}

TEST_F(ApiServerTest, AJobStartsOnceWhenItIsNotSuspended) {
  create_job();
  EXPECT_TRUE(server.started().empty());
  const auto suspend = [&](bool on) {
    patch(std::string(R"([{"op":"add","path":"/spec/suspend","value":)") + (on ? "true" : "false") + "}]");
  };
  suspend(false);
  suspend(true);
  suspend(false);
  ASSERT_EQ(server.started().size(), 1U);
  EXPECT_EQ(server.started().front().identity, "shop/report");
}

TEST_F(ApiServerTest, WhatIsBeingDeletedIsNotStarted) {
  create_job();
  remove(R"({"propagationPolicy":"Foreground"})");
  patch(R"([{"op":"add","path":"/spec/suspend","value":false}])");
  EXPECT_TRUE(server.started().empty());
}

TEST_F(ApiServerTest, OlderServersDropSuspend) {
  server.options.knows_suspend = false;
  EXPECT_EQ(node_at(create_job().body, {"spec", "suspend"}), nullptr);
  EXPECT_EQ(server.started().size(), 1U);
}

TEST_F(ApiServerTest, TheGarbageOfAnOwnerThatIsGoneIsCollected) {
  const std::string owner = text_at(*server.find("kronjobs", "shop", "report"), {"metadata", "uid"});
  const std::string job = R"({"metadata":{"name":"a","ownerReferences":[{"kind":"KronJob","uid":")" + owner +
                          R"("}]},"spec":{"suspend":true,"template":{}}})";
  call(Verb::create, std::string(kJobs), job);
  server.collect_garbage();
  EXPECT_NE(server.find("jobs", "shop", "a"), nullptr);
  server.remove("kronjobs", "shop", "report", ApiServer::Deletion::background);
  server.collect_garbage();
  EXPECT_EQ(server.find("jobs", "shop", "a"), nullptr);
}

TEST_F(ApiServerTest, AnOrphanStays) {
  const std::string owner = text_at(*server.find("kronjobs", "shop", "report"), {"metadata", "uid"});
  call(Verb::create, std::string(kJobs),
       R"({"metadata":{"name":"a","ownerReferences":[{"kind":"KronJob","uid":")" + owner +
           R"("}]},"spec":{"suspend":true,"template":{}}})");
  server.remove("kronjobs", "shop", "report", ApiServer::Deletion::orphan);
  server.collect_garbage();
  EXPECT_NE(server.find("jobs", "shop", "a"), nullptr);
}

TEST_F(ApiServerTest, ItIsAValue) {
  create_job();
  ApiServer other = server;
  other.remove("jobs", "shop", "a", ApiServer::Deletion::background);
  EXPECT_NE(server.find("jobs", "shop", "a"), nullptr);
}

TEST_F(ApiServerTest, OtherPathsAreNotThere) {
  EXPECT_EQ(call(Verb::get, "/api/v1/pods").code, 404);
  EXPECT_EQ(call(Verb::get, "/apis/batch/v1/namespaces/shop/jobs/none").code, 404);
  EXPECT_EQ(call(Verb::get, std::string(kJobs)).code, 200);
}

TEST(JsonPatch, KnowsItsOperations) {
  const auto patched = [](std::string_view document, std::string_view patch) {
    const Result<Node> result = apply_json_patch(parse_json(document).value(), parse_json(patch).value());
    return result ? JsonWriter().node(*result).take() : std::string("refused");
  };
  EXPECT_EQ(patched(R"({"a":{"b/c":1}})", R"([{"op":"replace","path":"/a/b~1c","value":2}])"), R"({"a":{"b/c":2}})");
  EXPECT_EQ(patched("{}", R"([{"op":"replace","path":"/a","value":2}])"), "refused");
  EXPECT_EQ(patched("{}", R"([{"op":"add","path":"/a","value":2}])"), R"({"a":2})");
  EXPECT_EQ(patched("{}", R"([{"op":"add","path":"/a/b","value":2}])"), "refused");
  EXPECT_EQ(patched("{}", R"([{"op":"remove","path":"/a"}])"), "refused");
  EXPECT_EQ(patched(R"({"a":1})", R"([{"op":"test","path":"/a","value":1},{"op":"remove","path":"/a"}])"), "{}");
}

}  // namespace
}  // namespace kron::kube
