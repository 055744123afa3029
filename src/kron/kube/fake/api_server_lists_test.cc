#include <gtest/gtest.h>

#include "kron/base/rfc3339.h"
#include "kron/kube/fake/api_server.h"
#include "kron/kube/fake/node_edit.h"
#include "kron/kube/lease.h"
#include "kron/kube/object.h"
#include "kron/kube/wire.h"

namespace kron::kube {
namespace {

constexpr std::string_view kAllJobs = "/apis/batch/v1/jobs";

// What a watch says: "ADDED a 105".
std::string line_text(const std::optional<std::string>& line) {
  if (!line) return "nothing";
  const WatchEvent event = read_watch_event(*line).value();
  constexpr std::string_view kTypes[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"};
  std::string text(kTypes[static_cast<std::size_t>(event.type)]);
  if (event.type == WatchEvent::Type::error) return text + " " + std::to_string(*integer_at(event.object, {"code"}));
  return text + " " + text_at(event.object, {"metadata", "name"}) + " " +
         text_at(event.object, {"metadata", "resourceVersion"});
}

class ApiServerListsTest : public ::testing::Test {
 protected:
  ApiServerListsTest() { server.now = parse_rfc3339("2026-03-01T12:00:00Z").value(); }

  void add(const std::string& ns, const std::string& name, const std::string& labels = R"({"kron.io/name":"x"})") {
    const std::string object = R"({"metadata":{"namespace":")" + ns + R"(","name":")" + name + R"(","labels":)" +
                               labels + R"(},"spec":{"suspend":true,"template":{}}})";
    ASSERT_EQ(server.create("jobs", parse_json(object).value()).code, 201);
  }
  ListPage page(const std::string& query, std::string_view path = kAllJobs) {
    const Response response = server.respond({.path = std::string(path), .query = query});
    EXPECT_EQ(response.code, 200) << response.body;
    return read_list_page(response.body).value();
  }
  static std::string names(const ListPage& page) {
    std::string text;
    for (const Node& item : page.items) text += text_at(item, {"metadata", "name"});
    return text;
  }
  ApiServer::Watch watch(std::uint64_t version, const std::string& query = "", std::string_view path = kAllJobs) {
    auto got = server.watch(watch_request(version, query, path));
    EXPECT_TRUE(std::holds_alternative<ApiServer::Watch>(got));
    return std::get<ApiServer::Watch>(got);
  }
  static Request watch_request(std::uint64_t version, const std::string& query = "", std::string_view path = kAllJobs) {
    return {.path = std::string(path), .query = "watch=1&resourceVersion=" + std::to_string(version) + query};
  }
  int refused_with(const Request& request) {
    auto got = server.watch(request);
    return std::holds_alternative<Answer>(got) ? std::get<Answer>(got).code : 0;
  }
  std::string next(ApiServer::Watch& watch) { return line_text(server.next_line(watch)); }

  ApiServer server;
};

TEST_F(ApiServerListsTest, AListComesByPagesAsItWasWhenItBegan) {
  for (const char* name : {"a", "b", "c", "d", "e"}) add("shop", name);
  const ListPage first = page("limit=2");
  EXPECT_EQ(names(first), "ab");
  server.remove("jobs", "shop", "c", ApiServer::Deletion::background);
  add("shop", "ca");
  const ListPage second = page("limit=2&continue=" + percent_encoded(first.next));
  EXPECT_EQ(names(second), "cd");
  EXPECT_EQ(second.resource_version, first.resource_version);
  const ListPage last = page("limit=2&continue=" + percent_encoded(second.next));
  EXPECT_EQ(names(last), "e");
  EXPECT_EQ(last.next, "");
  EXPECT_EQ(names(page("limit=2&continue=" + percent_encoded(second.next))), "e") << "asked for again";
  EXPECT_EQ(names(page("")), "abcade");
}

TEST_F(ApiServerListsTest, AListThatWasBegunLongAgoIsGone) {
  for (const char* name : {"a", "b", "c"}) add("shop", name);
  const std::string next = percent_encoded(page("limit=2").next);
  server.expire_pages();
  const Response gone = server.respond({.path = std::string(kAllJobs), .query = "limit=2&continue=" + next});
  EXPECT_EQ(gone.code, 410);
  EXPECT_EQ(text_at(read_body(gone.body).value(), {"reason"}), "Expired");
  EXPECT_EQ(server.respond({.path = std::string(kAllJobs), .query = "continue=x"}).code, 400);
}

TEST_F(ApiServerListsTest, AListThatWasBegunBeforeACompactionIsGone) {
  for (const char* name : {"a", "b", "c"}) add("shop", name);
  const std::string next = "limit=2&continue=" + percent_encoded(page("limit=2").next);
  EXPECT_EQ(names(page(next)), "c");
  server.compact();
  EXPECT_EQ(server.respond({.path = std::string(kAllJobs), .query = next}).code, 410);
  EXPECT_EQ(names(page("limit=2")), "ab") << "from its beginning it is read as ever";
}

TEST_F(ApiServerListsTest, OfListsThatWereBegunTheOldestIsForgotten) {
  for (const char* name : {"a", "b", "c"}) add("shop", name);
  const std::string oldest = "limit=2&continue=" + percent_encoded(page("limit=2").next);
  const std::string second = "limit=2&continue=" + percent_encoded(page("limit=2").next);
  for (int i = 0; i < 15; ++i) page("limit=2");
  EXPECT_EQ(server.respond({.path = std::string(kAllJobs), .query = oldest}).code, 410);
  EXPECT_EQ(names(page(second)), "c");
}

TEST_F(ApiServerListsTest, AListIsOfANamespaceOfLabelsAndOfFields) {
  add("shop", "a");
  add("shop", "b", R"({"kron.io/name":"y"})");
  add("shop", "c", "{}");
  add("shops", "d");
  EXPECT_EQ(names(page("", "/apis/batch/v1/namespaces/shop/jobs")), "abc");
  EXPECT_EQ(names(page("labelSelector=kron.io%2Fname")), "abd");
  EXPECT_EQ(names(page("labelSelector=%21kron.io%2Fname")), "c");
  EXPECT_EQ(names(page("labelSelector=kron.io%2Fname%3Dy")), "b");
  EXPECT_EQ(names(page("labelSelector=kron.io%2Fname%3D%3Dy")), "b");
  EXPECT_EQ(names(page("labelSelector=kron.io%2Fname%2Ckron.io%2Fname%21%3Dy")), "ad");
  EXPECT_EQ(names(page("fieldSelector=metadata.name%3Dd")), "d");
  EXPECT_EQ(server.respond({.path = std::string(kAllJobs), .query = "fieldSelector=status.x%3D1"}).code, 400);
  EXPECT_EQ(server.respond({.path = std::string(kAllJobs), .query = "labelSelector=a+in+%28b%29"}).code, 400);
}

TEST_F(ApiServerListsTest, AWatchTellsWhatHappenedSinceItsVersion) {
  add("shop", "a");
  const std::uint64_t from = server.version();
  add("shop", "b");
  ApiServer::Watch watcher = watch(from);
  EXPECT_EQ(next(watcher), "ADDED b 102");
  EXPECT_FALSE(server.has_news(watcher));
  EXPECT_EQ(next(watcher), "nothing");
  server.finish("shop", "a", true);
  server.remove("jobs", "shop", "b", ApiServer::Deletion::background);
  EXPECT_TRUE(server.has_news(watcher));
  EXPECT_EQ(next(watcher), "MODIFIED a 103");
  EXPECT_EQ(next(watcher), "DELETED b 104");
  EXPECT_EQ(next(watcher), "nothing");
}

TEST_F(ApiServerListsTest, AWatchByLabelIsToldThatWhatLosesItIsGone) {
  add("shop", "a");
  add("shop", "b", "{}");
  ApiServer::Watch watcher = watch(server.version(), "&labelSelector=kron.io%2Fname");
  const auto label = [&](const std::string& name, bool on) {
    server.edit("jobs", "shop", name, [&](const Node& job) {
      return on ? with_text(job, {"metadata", "labels", "kron.io/name"}, "x")
                : without(job, {"metadata", "labels", "kron.io/name"});
    });
  };
  label("a", false);
  label("b", true);
  server.finish("shop", "a", true);
  EXPECT_EQ(next(watcher), "DELETED a 103");
  EXPECT_EQ(next(watcher), "ADDED b 104");
  EXPECT_EQ(next(watcher), "nothing");
}

TEST_F(ApiServerListsTest, AWatchIsOfItsKindAndNamespace) {
  ApiServer::Watch watcher = watch(server.version(), "", "/apis/batch/v1/namespaces/shop/jobs");
  server.create("kronjobs", parse_json(R"({"metadata":{"namespace":"shop","name":"k"},"spec":{}})").value());
  add("other", "a");
  EXPECT_EQ(next(watcher), "nothing");
  EXPECT_EQ(line_text(ApiServer::bookmark(watcher)), "BOOKMARK  102") << "others' versions count as heard";
}

TEST_F(ApiServerListsTest, AWatchFromAVersionThatIsForgottenIsToldSo) {
  const std::uint64_t from = server.version();
  add("shop", "a");
  ApiServer::Watch slow = watch(from);
  server.compact();
  ApiServer::Watch watcher = watch(from);
  EXPECT_EQ(next(watcher), "ERROR 410");
  EXPECT_EQ(next(watcher), "nothing");
  EXPECT_TRUE(watcher.is_over);
  EXPECT_EQ(next(slow), "ERROR 410") << "it must not miss anything without a word";
  server.options.gone_as_status = true;
  EXPECT_EQ(refused_with(watch_request(from)), 410);
  ApiServer::Watch now = watch(server.version());
  add("shop", "b");
  EXPECT_EQ(next(now), "ADDED b 102");
}

TEST_F(ApiServerListsTest, AWatchFromTheFutureIsRefused) {
  EXPECT_EQ(refused_with(watch_request(server.version() + 1)), 504);
  EXPECT_EQ(refused_with(watch_request(0)), 400);
}

TEST_F(ApiServerListsTest, ARefusalIsForAVerbAndAResource) {
  add("shop", "a");
  server.options.refusals = {
      {.verb = "watch", .resource = "jobs", .code = 403, .reason = "Forbidden"},
      {.resource = "leases", .code = 429, .reason = "TooManyRequests", .retry_after = 7, .times = 1}};
  EXPECT_EQ(refused_with(watch_request(server.version())), 403);
  EXPECT_EQ(server.respond({.path = std::string(kAllJobs)}).code, 200);
  const Response busy = server.respond({.path = lease_path("kron", "x")});
  EXPECT_EQ(busy.code, 429);
  EXPECT_EQ(busy.retry_after, Seconds(7));
  EXPECT_EQ(server.respond({.path = lease_path("kron", "x")}).code, 404);
}

TEST_F(ApiServerListsTest, ALeaseIsReplacedByCompareAndSet) {
  Lease lease{.ns = "kron", .name = "x", .holder = "me"};
  lease.renewed = server.now;
  Request create{Verb::create, leases_path("kron"), "", lease_body(lease)};
  const Answer made = server.handle(create);
  ASSERT_EQ(made.code, 201);
  lease = read_lease(made.body).value();
  lease.holder = "you";
  const Request update{Verb::update, lease_path("kron", "x"), "", lease_body(lease)};
  EXPECT_EQ(server.handle(update).code, 200);
  EXPECT_EQ(server.handle(update).code, 409);
  Request odd = update;
  odd.body.replace(odd.body.find(".000000Z"), 8, ".0Z");
  EXPECT_EQ(server.handle(odd).code, 400) << "six digits";
}

TEST_F(ApiServerListsTest, AnUpdateKeepsWhatTheServerWrites) {
  const std::string path = "/apis/kron.io/v1alpha1/namespaces/shop/kronjobs/k";
  server.create("kronjobs", parse_json(R"({"metadata":{"namespace":"shop","name":"k"},"spec":{"a":1}})").value());
  const auto version = [&] { return text_at(*server.find("kronjobs", "shop", "k"), {"metadata", "resourceVersion"}); };
  const auto put = [&](const std::string& tail, const std::string& rest) {
    return server
        .handle({Verb::update, path + tail, "",
                 R"({"metadata":{"name":"k","resourceVersion":")" + version() + R"("},)" + rest + "}"})
        .code;
  };
  EXPECT_EQ(put("/status", R"("status":{"x":1})"), 200);
  EXPECT_EQ(put("", R"("spec":{"a":2},"status":{"x":2})"), 200);
  const auto object = server.find("kronjobs", "shop", "k");
  EXPECT_EQ(integer_at(*object, {"status", "x"}), 1);
  EXPECT_EQ(integer_at(*object, {"spec", "a"}), 2);
  EXPECT_EQ(metadata_of(*object)->generation, 2);
  EXPECT_EQ(server.handle({Verb::update, path, "", R"({"metadata":{"name":"k"},"spec":{}})"}).code, 422);
}

TEST_F(ApiServerListsTest, AFinalizerHoldsWhatIsDeleted) {
  const std::string held =
      R"({"metadata":{"namespace":"shop","name":"a","finalizers":["x/y"]},"spec":{"template":{}}})";
  server.create("jobs", parse_json(held).value());
  server.remove("jobs", "shop", "a", ApiServer::Deletion::background);
  server.collect_garbage();
  ASSERT_NE(server.find("jobs", "shop", "a"), nullptr);
  EXPECT_TRUE(metadata_of(*server.find("jobs", "shop", "a"))->deleting);
  server.edit("jobs", "shop", "a", [](const Node& job) { return without(job, {"metadata", "finalizers"}); });
  EXPECT_EQ(server.find("jobs", "shop", "a"), nullptr);
  EXPECT_EQ(server.events().back().type, ApiServer::Event::Type::deleted);
}

TEST_F(ApiServerListsTest, AnEventHasATimeOfSixDigits) {
  const auto post = [&](const std::string& time) {
    return server
        .handle({Verb::create, "/apis/events.k8s.io/v1/namespaces/shop/events", "",
                 R"({"metadata":{"name":"e"},"eventTime":")" + time + R"("})"})
        .code;
  };
  EXPECT_EQ(post("2026-11-17T10:00:00Z"), 400);
  EXPECT_EQ(post("2026-11-17T10:00:00.000001Z"), 201);
  EXPECT_EQ(server.list("events").size(), 1U);
}

}  // namespace
}  // namespace kron::kube
