#include <gtest/gtest.h>

#include "kron/json/decide_request.h"
#include "kron/testing/golden.h"

namespace kron {
namespace {

const std::string kData = testing::data_path("kron/");

std::string to_json(const Node& node);

std::string to_json(const Node::Map& map) {
  std::string json;
  for (const Node::Member& member : map) {
    json += (json.empty() ? "{\"" : ",\"") + member.key + "\":" + to_json(member.value);
  }
  return json.empty() ? "{}" : json + "}";
}

std::string to_json(const Node::List& list) {
  std::string json;
  for (const Node& item : list) json += (json.empty() ? "[" : ",") + to_json(item);
  return json.empty() ? "[]" : json + "]";
}

// The vectors' texts hold nothing that needs escaping.
std::string to_json(const Node& node) {
  if (const auto* map = node.as<Node::Map>()) return to_json(*map);
  if (const auto* list = node.as<Node::List>()) return to_json(*list);
  if (const auto* value = node.as<bool>()) return *value ? "true" : "false";
  const std::string scalar = scalar_text(node).value_or("null");
  return node.as<std::string>() != nullptr ? '"' + scalar + '"' : scalar;
}

// Every value that the vector expects; its `reason` is worded differently there.
void expect_decision(const Node& vector, ZoneDatabase& zones) {
  const std::string input = to_json(*vector.find("input"));
  SCOPED_TRACE(input);
  const Result<DecideRequest> request = parse_decide_request(input, zones);
  ASSERT_TRUE(request) << request.error().field << ": " << request.error().message;
  const std::string output = decision_json(request->job, decide(request->job, request->nominal));
  const Result<Node> answer = parse_json(output);
  ASSERT_TRUE(answer) << output;
  for (const Node::Member& expected : *vector.find("expected")->as<Node::Map>()) {
    if (expected.key == "reason") continue;
    const Node* found = answer->find(expected.key);
    ASSERT_NE(found, nullptr) << expected.key;
    EXPECT_EQ(to_json(*found), to_json(expected.value)) << expected.key;
  }
}

class ReferenceVectors : public ::testing::TestWithParam<const char*> {};

TEST_P(ReferenceVectors, AreReproduced) {
  ZoneDatabase zones;
  const Result<Node> document = parse_json(testing::read_file(kData + GetParam() + ".json"));
  ASSERT_TRUE(document) << document.error().message;
  const auto& cases = *document->find("cases")->as<Node::List>();
  ASSERT_FALSE(cases.empty());
  for (const Node& vector : cases) expect_decision(vector, zones);
}

INSTANTIATE_TEST_SUITE_P(V, ReferenceVectors, ::testing::Values("v1", "v2", "v3", "v4", "v5", "v6", "v7"),
                         [](const auto& vector) { return std::string(vector.param); });

TEST(DecisionGolden, TwoThousandRandomDecisionsAreReproduced) {
  ZoneDatabase zones;
  const std::vector<std::string> lines = testing::read_lines(kData + "decide.jsonl");
  EXPECT_EQ(lines.size(), 2000U);
  for (const std::string& line : lines) {
    const Result<Node> vector = parse_json(line);
    ASSERT_TRUE(vector) << vector.error().message;
    expect_decision(*vector, zones);
  }
}

TEST(DecisionGolden, ANarrowConstraintIsMetOnAttempt55) {
  ZoneDatabase zones;
  const Result<DecideRequest> request = parse_decide_request(
      R"({"identity":"home/lights","periodStart":"2026-03-01T18:00:00Z","window":"1h","salt":"lights",)"
      R"("only":{"between":"18:58-19:00"}})",
      zones);
  ASSERT_TRUE(request);
  const Decision decision = decide(request->job, request->nominal);
  EXPECT_EQ(decision.chosen, instant_of(1772391481));  // 18:58:01
  EXPECT_EQ(decision.attempts, 55);
}

TEST(DecisionGolden, TheBackupOfTheDocumentationRunsAt23220) {
  ZoneDatabase zones;
  const Result<DecideRequest> request = parse_decide_request(
      R"({"identity":"prod/db-backup","periodStart":"2026-03-01T00:00:00Z","window":"3h","salt":"backup"})", zones);
  ASSERT_TRUE(request);
  const std::string answer = decision_json(request->job, decide(request->job, request->nominal));
  EXPECT_NE(answer.find(R"("chosenTime":"2026-03-01T02:32:20Z")"), std::string::npos) << answer;
}

}  // namespace
}  // namespace kron
