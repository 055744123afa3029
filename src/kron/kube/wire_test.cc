#include "kron/kube/wire.h"

#include <gtest/gtest.h>

#include "kron/json/writer.h"
#include "kron/kube/api_error.h"
#include "kron/kube/object.h"

namespace kron::kube {
namespace {

std::string written(const Node& node) { return JsonWriter().node(node).take(); }

TEST(Bodies, AreReadAsParseJsonReadsThem) {
  const std::string text =
      R"({"a":[1,-2,3.5,true,false,null,"x\u00e9\n"],"b":{"c":{}},"d":[],"e":9223372036854775807,"f":1e300})";
  EXPECT_EQ(written(read_body(text).value()), written(parse_json(text).value()));
}

TEST(Bodies, LargerThanADocumentIsElsewhereAreRead) {
  const std::string text = "[\"" + std::string(std::size_t{3} << 20, 'x') + "\"]";
  EXPECT_EQ(read_body(text).value().as<Node::List>()->front().as<std::string>()->size(), std::size_t{3} << 20);
}

TEST(Bodies, AreRefusedWhenTheyAreBroken) {
  const std::string deep = std::string(100, '[') + std::string(100, ']');
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("{} x"), std::string("{\"a\":1,\"a\":2}"), std::string("\"\xFF\""),
        std::string("<html>"), std::string("{\"a\":01}"), deep}) {
    EXPECT_FALSE(read_body(text)) << text;
  }
}

TEST(ListPages, HaveItemsAVersionAndTheNextPagesToken) {
  const ListPage page =
      read_list_page(R"({"kind":"List","metadata":{"resourceVersion":"12","continue":"abc"},"items":[{"a":1},{}]})")
          .value();
  EXPECT_EQ(page.resource_version, "12");
  EXPECT_EQ(page.next, "abc");
  EXPECT_EQ(page.items.size(), 2U);
  EXPECT_EQ(read_list_page(R"({"metadata":{"resourceVersion":"1"},"items":null})").value().items.size(), 0U);
  EXPECT_FALSE(read_list_page(R"({"metadata":{},"items":[]})"));
  EXPECT_FALSE(read_list_page(R"({"metadata":{"resourceVersion":"1"},"items":{}})"));
  EXPECT_FALSE(read_list_page(R"([{"metadata":{"resourceVersion":"1"},"items":[]}])"));
  // One that had no items, because nobody knows which of them to take, would be one whose objects are all gone.
  EXPECT_FALSE(read_list_page(R"({"metadata":{"resourceVersion":"1"},"items":[{}],"items":[{}]})"));
  EXPECT_FALSE(read_list_page(R"({"metadata":{"resourceVersion":"1"},"items":[{"a":1,"a":2}]})"));
}

TEST(WatchEvents, HaveATypeAndAnObject) {
  using Type = WatchEvent::Type;
  for (const auto& [word, type] :
       {std::pair("ADDED", Type::added), std::pair("MODIFIED", Type::modified), std::pair("DELETED", Type::deleted),
        std::pair("BOOKMARK", Type::bookmark), std::pair("ERROR", Type::error)}) {
    const auto event = read_watch_event(std::string(R"({"type":")") + word + R"(","object":{"code":410}})").value();
    EXPECT_EQ(event.type, type);
    EXPECT_EQ(integer_at(event.object, {"code"}), 410);
  }
  EXPECT_FALSE(read_watch_event(R"({"type":"SYNC","object":{}})"));
  EXPECT_FALSE(read_watch_event(R"({"type":"ADDED","object":null})"));
  EXPECT_FALSE(read_watch_event(R"({"type":"ADDED"})"));
  EXPECT_FALSE(read_watch_event(R"({"type":"ADDED","object":{},"object":{"a":1}})"));
  EXPECT_FALSE(read_watch_event(R"("ADDED")"));
}

TEST(WatchEvents, OfWhatIsKnownHaveNoObject) {
  const auto line = [](const std::string& type) {
    return R"({"type":")" + type +
           R"(","object":{"spec":{"a":1},"metadata":{"labels":{"x":"y"},"namespace":"n","name":"a","uid":"u",)"
           R"("resourceVersion":"7","generation":3,"creationTimestamp":"2026-11-17T10:00:00Z"}}})";
  };
  std::vector<std::string> asked;
  const auto reader = [&](bool knows) {
    return [&asked, knows](const ObjectMeta& meta) {
      asked.push_back(meta.ns + "/" + meta.name + " " + meta.uid + " " + meta.resource_version);
      return knows;
    };
  };
  const WatchEvent known = read_watch_event(line("MODIFIED"), reader(true)).value();
  EXPECT_TRUE(known.is_known);
  EXPECT_EQ(known.meta->generation, 3);
  EXPECT_TRUE(known.object.is_null());
  const WatchEvent news = read_watch_event(line("ADDED"), reader(false)).value();
  EXPECT_FALSE(news.is_known);
  EXPECT_EQ(*news.meta, metadata_of(news.object).value()) << "the head says what the object says";
  EXPECT_EQ(integer_at(news.object, {"spec", "a"}), 1);
  EXPECT_EQ(asked, (std::vector<std::string>{"n/a u 7", "n/a u 7"}));
  // What is gone is news, whatever was known of it.
  EXPECT_FALSE(read_watch_event(line("DELETED"), reader(true))->is_known);
  EXPECT_EQ(asked.size(), 2U);
  EXPECT_FALSE(read_watch_event(R"({"type":"ADDED","object":{"metadata":{"name":"a"}}})", reader(true))->meta);
  EXPECT_EQ(asked.size(), 2U);
}

TEST(Bodies, WithAKeyTwiceAreRefusedHoweverManyKeysThereAre) {
  for (const int keys : {1, 2, 15, 16, 17, 100}) {
    std::string body = "{\"a\":0";
    for (int i = 1; i < keys; ++i) body += ",\"k" + std::to_string(i) + "\":1";
    EXPECT_TRUE(read_body(body + "}")) << keys;
    EXPECT_FALSE(read_body(body + ",\"a\":1}")) << keys;
    EXPECT_FALSE(read_body(R"({"inner":)" + body + ",\"a\":1}}")) << keys;
  }
}

TEST(WatchEvents, AreReadAlikeWhateverCameBefore) {
  const std::string page = R"({"metadata":{"resourceVersion":"1"},"items":[")" + std::string(200'000, 'x') + R"("]})";
  const std::string event = R"({"type":"ERROR","object":{"code":410}})";
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(integer_at(read_watch_event(event)->object, {"code"}), 410);
    EXPECT_EQ(read_list_page(page)->items.size(), 1U);
    EXPECT_FALSE(read_body("{"));
    EXPECT_FALSE(read_body(std::string(100, '['))) << "deeper than anything of an API server";
  }
}

TEST(Replies, TellAnAnswerFromNone) {
  EXPECT_EQ(std::get<Failure>(reply_of(Broken{Failure::not_sent, "x"})), Failure::not_sent);
  EXPECT_EQ(std::get<Answer>(reply_of(Response{.code = 201, .body = "{}"})).code, 201);
  // A page for people instead of a Status is still a refusal; instead of an object it is no answer.
  const Reply refused = reply_of(Response{.code = 502, .body = "<html>"});
  EXPECT_EQ(error_in(std::get<Answer>(refused))->code, 502);
  EXPECT_EQ(std::get<Failure>(reply_of(Response{.code = 200, .body = "<html>"})), Failure::unknown);
}

TEST(Replies, LeaveOutWhatNobodyLooksAt) {
  const Response response{
      .code = 200,
      .body =
          R"({"metadata":{"namespace":"n","name":"a","uid":"u","resourceVersion":"7","managedFields":[{"f":1}],)"
          R"("creationTimestamp":"2026-11-17T10:00:00Z","annotations":{"spec.b":"kept"}},"spec":{"a":{"b":1,"c":2},)"
          R"("ab":3},"specific":4,"list":[{"spec":5}]})"};
  static constexpr std::string_view kParts[] = {"metadata.managedFields", "spec.a.b", "list.spec", "none.at.all"};
  std::string asked;
  const Reply reply = reply_of(response, [&](const ObjectMeta& meta) {
    asked = meta.name + " " + meta.resource_version;
    return Parts(kParts);
  });
  EXPECT_EQ(asked, "a 7");
  EXPECT_EQ(
      JsonWriter().node(std::get<Answer>(reply).body).take(),
      R"({"metadata":{"namespace":"n","name":"a","uid":"u","resourceVersion":"7",)"
      R"("creationTimestamp":"2026-11-17T10:00:00Z","annotations":{"spec.b":"kept"}},"spec":{"a":{"c":2},"ab":3},)"
      R"("specific":4,"list":[{"spec":5}]})");
  // What is no object of the server is read as it is, and what is broken stays so.
  const auto all = [](const ObjectMeta&) { return Parts(kParts); };
  const Reply refused = reply_of(Response{.code = 404, .body = R"({"spec":{"a":{"b":1}},"metadata":{}})"}, all);
  EXPECT_EQ(integer_at(std::get<Answer>(refused).body, {"spec", "a", "b"}), 1);
  EXPECT_EQ(std::get<Failure>(reply_of(Response{.code = 200, .body = R"({"a":1,"a":2})"}, all)), Failure::unknown);
  EXPECT_EQ(std::get<Failure>(reply_of(Response{.code = 200, .body = "<html>"}, all)), Failure::unknown);
}

TEST(Queries, EscapeWhatHasAMeaning) {
  EXPECT_EQ(percent_encoded("kron.io/name"), "kron.io%2Fname");
  EXPECT_EQ(percent_encoded("a&b=c\xC3\xA9"), "a%26b%3Dc%C3%A9");
}

}  // namespace
}  // namespace kron::kube
