#include "kron/cluster/definition_edit.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "kron/cluster/json_spans.h"
#include "kron/json/document.h"
#include "kron/json/writer.h"
#include "kron/testing/draws.h"
#include "kron/testing/property.h"

namespace kron::cluster {
namespace {

std::string paused_text(std::string_view text, bool is_paused = true) {
  const Result<std::string> edited = with_paused(text, is_paused ? std::optional(jobs::ClusterPause()) : std::nullopt);
  return edited ? *edited : "error: " + edited.error().message;
}

std::string noted_text(std::string_view text, const std::optional<std::string>& errors) {
  const Result<std::string> edited = with_validation_errors(text, errors);
  return edited ? *edited : "error: " + edited.error().message;
}

TEST(DefinitionEdit, PausesByChangingAsLittleAsPossible) {
  struct Case {
    std::string before;
    std::string after;
  };
  const Case cases[] = {
      {"{}", R"({"job_state":{"paused":true}})"},
      {"{ }", R"({"job_state":{"paused":true} })"},
      {R"({"a":1.50 , "b":[1e3]})", R"({"a":1.50 , "b":[1e3],"job_state":{"paused":true}})"},
      {R"({"job_state":null,"z":0})", R"({"job_state":{"paused":true},"z":0})"},
      {R"({"job_state":{},"z":0})", R"({"job_state":{"paused":true},"z":0})"},
      {R"({"job_state":{ "x":"}" },"z":0})", R"({"job_state":{ "x":"}","paused":true },"z":0})"},
      {R"({"job_state":{"paused":false,"x":1}})", R"({"job_state":{"paused":true,"x":1}})"},
      {R"({"job_state":{"paused" : null}})", R"({"job_state":{"paused" : true}})"},
      {R"({"job_state":{"p\u0061used":false}})", R"({"job_state":{"p\u0061used":true}})"},
      {R"({"job_state":{"paused":true}})", R"({"job_state":{"paused":true}})"},
      {R"({"job_state":{"paused":"yes"}})", R"({"job_state":{"paused":"yes"}})"},
      {R"({"big":12345678901234567890,"bigger":-123456789012345678901234567890})",
       R"({"big":12345678901234567890,"bigger":-123456789012345678901234567890,"job_state":{"paused":true}})"},
      {R"({"x":"\"job_state\":{"})", R"({"x":"\"job_state\":{","job_state":{"paused":true}})"},
      {"\n{\n  \"a\": 1\n}\n", "\n{\n  \"a\": 1,\"job_state\":{\"paused\":true}\n}\n"},
  };
  for (const Case& c : cases) EXPECT_EQ(paused_text(c.before), c.after);
}

TEST(DefinitionEdit, ResumesByChangingAsLittleAsPossible) {
  struct Case {
    std::string before;
    std::string after;
  };
  const Case cases[] = {
      {R"({"a":1})", R"({"a":1})"},
      {R"({"job_state":null})", R"({"job_state":null})"},
      {R"({"job_state":{"paused":true}})", R"({"job_state":{"paused":false}})"},
      {R"({"job_state":{"paused":"on", "x":1}})", R"({"job_state":{"paused":false, "x":1}})"},
      {R"({"job_state":{"paused":0}})", R"({"job_state":{"paused":0}})"},
  };
  for (const Case& c : cases) EXPECT_EQ(paused_text(c.before, false), c.after);
}

TEST(DefinitionEdit, APauseTellsSinceWhenByWhomAndWhyUntilItEnds) {
  const jobs::ClusterPause by_anna{instant_of(60), "anna", "disk \"full\""};
  const jobs::ClusterPause by_ben{instant_of(120), "ben", ""};
  const std::string annas =
      R"({"a":1.50,"job_state":{"paused":true,"kron_pause":{"since":"1970-01-01T00:01:00Z","by":"anna","note":"disk \"full\""}}})";
  const std::string bens =
      R"({"a":1.50,"job_state":{"paused":true,"kron_pause":{"since":"1970-01-01T00:01:00Z","by":"ben"}}})";
  EXPECT_EQ(with_paused(R"({"a":1.50})", by_anna), annas);
  EXPECT_EQ(with_paused(annas, by_anna), annas);
  // Another host hears the same event a little later, or one of cronken's, which says nothing.
  EXPECT_EQ(with_paused(annas, jobs::ClusterPause{instant_of(61), "anna", "disk \"full\""}), annas);
  EXPECT_EQ(with_paused(annas, jobs::ClusterPause{instant_of(61), "", ""}), annas);
  // Paused again by somebody else it stays paused since when it was.
  EXPECT_EQ(with_paused(annas, by_ben), bens);
  EXPECT_EQ(with_paused(bens, std::nullopt), R"({"a":1.50,"job_state":{"paused":false}})");
  EXPECT_EQ(with_paused(R"({"job_state":{"paused":true}})", by_ben),
            R"({"job_state":{"paused":true,"kron_pause":{"since":"1970-01-01T00:02:00Z","by":"ben"}}})");
  // What is left of an earlier pause, by a program that does not know it, is not told of the next.
  const std::string stale = R"({"job_state":{"paused":false,"kron_pause":{"by":"anna"}}})";
  EXPECT_EQ(with_paused(stale, jobs::ClusterPause()), R"({"job_state":{"paused":true}})");
  EXPECT_EQ(with_paused(stale, std::nullopt), R"({"job_state":{"paused":false}})");
  const std::string strange = R"({"job_state":{"paused":true,"kron_pause":[1]}})";
  EXPECT_EQ(with_paused(strange, jobs::ClusterPause()), strange);
  EXPECT_EQ(with_paused(strange, by_ben),
            R"({"job_state":{"paused":true,"kron_pause":{"since":"1970-01-01T00:02:00Z","by":"ben"}}})");
}

TEST(DefinitionEdit, NotesErrorsAndTakesThemAway) {
  EXPECT_EQ(noted_text(R"({"a":1})", "bad \"x\"\n"), R"({"a":1,"job_state":{"validation_errors":"bad \"x\"\n"}})");
  EXPECT_EQ(noted_text(R"({"job_state":{"paused":true}})", "bad"),
            R"({"job_state":{"paused":true,"validation_errors":"bad"}})");
  EXPECT_EQ(noted_text(R"({"job_state":{"validation_errors":"old"}})", "bad"),
            R"({"job_state":{"validation_errors":"bad"}})");
  EXPECT_EQ(noted_text(R"({"job_state":{"validation_errors":"bad"}})", std::nullopt), R"({"job_state":{}})");
  EXPECT_EQ(noted_text(R"({"job_state":{"paused":true , "validation_errors":"bad"}})", std::nullopt),
            R"({"job_state":{"paused":true}})");
  EXPECT_EQ(noted_text(R"({"job_state":{"validation_errors":"bad", "paused":true}})", std::nullopt),
            R"({"job_state":{"paused":true}})");
  EXPECT_EQ(noted_text(R"({"job_state":{"a":1,"validation_errors":"bad","paused":true}})", std::nullopt),
            R"({"job_state":{"a":1,"paused":true}})");
  EXPECT_EQ(noted_text(R"({"job_state":{"validation_errors":null}})", std::nullopt),
            R"({"job_state":{"validation_errors":null}})");
  EXPECT_EQ(noted_text("{}", std::nullopt), "{}");
  EXPECT_EQ(*validation_errors_of(R"({"job_state":{"validation_errors":"bad"}})"), std::optional<std::string>("bad"));
  EXPECT_EQ(*validation_errors_of(R"({"job_state":{"validation_errors":5}})"), std::nullopt);
  EXPECT_EQ(*validation_errors_of("{}"), std::nullopt);
}

TEST(DefinitionEdit, SignsBesideTheOtherParts) {
  EXPECT_EQ(*with_signature(R"({"a":1})", "ff"), R"({"a":1,"kron_sig":"ff"})");
  EXPECT_EQ(*with_signature(R"({"kron_sig":"00","a":1})", "ff"), R"({"kron_sig":"ff","a":1})");
  EXPECT_FALSE(with_signature("[]", "ff"));
  EXPECT_FALSE(with_signature("{", "ff"));
}

TEST(DefinitionEdit, RefusesWhatIsNoDefinition) {
  for (const std::string_view text : {"", "[]", "5", "nonsense", "{\"a\":1", R"({"job_state":5})",
                                      R"({"job_state":[]})", R"({"a":1,"a":2})", "{}{}"}) {
    EXPECT_FALSE(with_paused(text, jobs::ClusterPause{})) << text;
    EXPECT_FALSE(with_paused(text, std::nullopt)) << text;
    EXPECT_FALSE(with_validation_errors(text, "x")) << text;
    EXPECT_FALSE(validation_errors_of(text)) << text;
  }
}

// A document in a spelling of its own: blanks, escapes, numbers as nobody prints them.
std::string drawn_value(int depth);

std::string drawn_blank() { return kron::testing::one_of("", "", " ", "\n", "\t "); }

std::string drawn_map(int depth, std::vector<std::string> keys) {
  std::string text = "{" + drawn_blank();
  bool is_first = true;
  for (const std::string& key : keys) {
    if (!kron::testing::maybe()) continue;
    if (!std::exchange(is_first, false)) text += "," + drawn_blank();
    text += "\"" + key + "\"" + drawn_blank() + ":" + drawn_blank() + drawn_value(depth) + drawn_blank();
  }
  return text + "}";
}

std::string drawn_value(int depth) {
  const std::string scalar =
      kron::testing::one_of("1", "-0.50", "1E+2", "true", "null", R"("")", R"("a\"b")", R"("}{,:")", R"("\\")",
                            R"("\u00e9é")", "[ ]", R"([1, {"a":[{}]}, "]"])");
  return depth == 0 || kron::testing::maybe() ? scalar
                                              : drawn_map(depth - 1, {"a", "paused", "validation_errors", "\\u0062"});
}

std::string drawn_state() {
  if (kron::testing::maybe()) return kron::testing::one_of("null", "{}", "{ }");
  return drawn_map(0, {"x", "paused", "validation_errors", "y"});
}

std::string drawn_definition() {
  std::string text = drawn_map(2, {"cron_args", "job_args", "z z"});
  if (!kron::testing::maybe()) return text;
  const bool is_empty = object_at(text)->members.empty();
  const std::string member = "\"job_state\"" + drawn_blank() + ":" + drawn_state();
  if (kron::testing::maybe()) return text.insert(1, member + (is_empty ? "" : ","));
  return text.insert(text.size() - 1, (is_empty ? "" : ",") + member);
}

// The same tree, with this member of its job_state set (or taken away) and nothing else changed.
std::string printed_without(const Node& node, std::string_view key) {
  Node::Map map = *node.as<Node::Map>();
  Node::Map others;
  for (Node::Member& member : map) {
    if (member.key != "job_state") {
      others.push_back(std::move(member));
      continue;
    }
    if (member.value.is_null()) continue;
    Node::Map state;
    for (const Node::Member& own : *member.value.as<Node::Map>()) {
      if (own.key != key) state.push_back(own);
    }
    if (state.empty()) continue;
    others.push_back({member.key, member.position, Node(std::move(state))});
  }
  return JsonWriter().node(Node(std::move(others))).take();
}

// `after` is `before` with one stretch replaced: all outside of it is the same bytes.
std::size_t changed_bytes(std::string_view before, std::string_view after) {
  const auto front = std::ranges::mismatch(before, after).in1 - before.begin();
  std::size_t back = 0;
  while (back < before.size() - static_cast<std::size_t>(front) &&
         back < after.size() - static_cast<std::size_t>(front) &&
         before[before.size() - 1 - back] == after[after.size() - 1 - back]) {
    ++back;
  }
  return before.size() - static_cast<std::size_t>(front) - back;
}

TEST(DefinitionEdit, SetsTheMemberAndLeavesAllElse) {
  kron::testing::for_all(300, [] {
    const std::string before = drawn_definition();
    const Result<Node> tree = parse_json(before);
    RC_ASSERT(tree.has_value());
    const bool is_paused = kron::testing::maybe();
    const auto pause = is_paused ? std::optional(jobs::ClusterPause()) : std::nullopt;
    const Result<std::string> after = with_paused(before, pause);
    RC_ASSERT(after.has_value());
    const Result<Node> edited = parse_json(*after);
    RC_ASSERT(edited.has_value());
    RC_ASSERT(printed_without(*edited, "paused") == printed_without(*tree, "paused"));
    const Node* state = edited->find("job_state");
    const Node* own = state != nullptr ? state->find("paused") : nullptr;
    const bool says = own != nullptr && own->as<bool>() != nullptr ? *own->as<bool>() : own != nullptr && is_paused;
    RC_ASSERT(says == is_paused);
    RC_ASSERT(*with_paused(*after, pause) == *after);
    // No more than the value of the member, or of a job_state that was null, goes.
    RC_ASSERT(changed_bytes(before, *after) <= 30U);
  });
}

TEST(DefinitionEdit, NotingErrorsAndTakingThemAwayGivesTheSameTree) {
  kron::testing::for_all(300, [] {
    const std::string before = drawn_definition();
    const std::string errors = kron::testing::one_of("bad", "a \"b\" \\ \n", "ü");
    const Result<std::string> with_errors = with_validation_errors(before, errors);
    RC_ASSERT(with_errors.has_value());
    RC_ASSERT(*validation_errors_of(*with_errors) == std::optional<std::string>(errors));
    const Result<std::string> taken = with_validation_errors(*with_errors, std::nullopt);
    RC_ASSERT(taken.has_value());
    const Result<Node> tree = parse_json(*taken);
    RC_ASSERT(tree.has_value());
    RC_ASSERT(*validation_errors_of(*taken) == std::nullopt);
    RC_ASSERT(printed_without(*tree, "validation_errors") == printed_without(*parse_json(before), "validation_errors"));
    RC_ASSERT(*with_validation_errors(*taken, std::nullopt) == *taken);
  });
}

}  // namespace
}  // namespace kron::cluster
