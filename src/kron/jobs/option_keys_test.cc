#include "kron/jobs/option_keys.h"

#include <gtest/gtest.h>
#include <map>

#include "kron/jobs/model.h"
#include "kron/jobs/option_schema.h"
#include "kron/json/writer.h"

namespace kron::jobs {
namespace {

// For each key a value that is not what the key says when it is left out.
const std::map<std::string_view, Node>& samples() {
  static const std::map<std::string_view, Node> kSamples{
      {"shell", Node(true)},
      {"user", Node(std::string("mail"))},
      {"group", Node(std::string("mail"))},
      {"cwd", Node(std::string("/srv"))},
      {"env", Node(Node::Map{{"A", {}, Node(std::string("1"))}})},
      {"env_file", Node(Node::List{Node(std::string("/etc/a")), Node(std::string("/etc/b"))})},
      {"credential", Node(Node::Map{{"db", {}, Node(std::string("/etc/db"))}})},
      {"mask_output", Node(true)},
      {"umask", Node(std::string("027"))},
      {"timeout", Node(std::string("2h"))},
      {"grace", Node(std::string("30s"))},
      {"retry", Node(std::int64_t{3})},
      {"backoff", Node(std::string("30s"))},
      {"fails_on", Node(std::string("nothing"))},
      {"success_exit", Node(std::string("0,2,255"))},
      {"stdout", Node(std::string("discard"))},
      {"stderr", Node(std::string("/var/log/err"))},
      {"stdin", Node(std::string("text"))},
      {"nice", Node(std::int64_t{-5})},
      {"limits", Node(Node::Map{{"memory", {}, Node(std::string("1G"))}, {"files", {}, Node(std::int64_t{64})}})},
      {"memory_max", Node(std::string("512M"))},
      {"tasks_max", Node(std::int64_t{100})},
      {"cpu_max", Node(std::string("150%"))},
      {"notify", Node(Node::Map{{"on", {}, Node(Node::List{Node(std::string("failed")), Node(std::string("late"))})},
                                {"after", {}, Node(std::int64_t{2})},
                                {"repeat", {}, Node(std::string("1d"))},
                                {"late", {}, Node(std::string("2h"))},
                                {"to", {}, Node(Node::List{Node(std::string("ops"))})}})},
      {"pool", Node(std::string("db:4"))},
      {"history", Node(std::int64_t{5})},
      {"ping", Node(std::string("https://hc-ping.com/0b1c"))},
      {"description", Node(std::string("what it is for"))},
  };
  return kSamples;
}

Node job_with(const Node::Map& options) {
  Node::Map job{{"name", {}, Node(std::string("a"))},
                {"schedule", {}, Node(std::string("@daily"))},
                {"command", {}, Node(std::string("true"))}};
  job.insert(job.end(), options.begin(), options.end());
  return Node(std::move(job));
}

Result<Node> written_again(const Node& job) {
  ZoneDatabase zones;
  const Result<JobDefinition> definition = read_requested_definition(job, zones);
  return definition ? node_of(*definition) : Result<Node>(fail(definition.error()));
}

TEST(OptionKeys, EachIsReadAndWrittenAsItWasRead) {
  for (const std::string_view key : schema_of_options().names()) {
    SCOPED_TRACE(key);
    const auto sample = samples().find(key);
    ASSERT_NE(sample, samples().end()) << "give a sample";
    const Node job = job_with({{std::string(key), {}, sample->second}});
    const Result<Node> again = written_again(job);
    ASSERT_TRUE(again) << again.error().message;
    const Node* found = again->find(key);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(JsonWriter().node(*found).take(), JsonWriter().node(sample->second).take());
  }
}

TEST(OptionKeys, WhatIsNotGivenIsNotWritten) {
  const Result<Node> again = written_again(job_with({}));
  ASSERT_TRUE(again) << again.error().message;
  for (const std::string_view key : schema_of_options().names()) EXPECT_EQ(again->find(key), nullptr) << key;
}

TEST(OptionKeys, TheyAreWrittenInTheOrderOfTheList) {
  Node::Map all;
  for (const auto& [key, value] : samples()) all.push_back({std::string(key), {}, value});  // by name
  const Result<Node> again = written_again(job_with(all));
  ASSERT_TRUE(again) << again.error().message;
  std::vector<std::string_view> written;
  for (const Node::Member& member : *again->as<Node::Map>()) {
    if (samples().contains(member.key)) written.push_back(member.key);
  }
  EXPECT_EQ(written, schema_of_options().names());
}

}  // namespace
}  // namespace kron::jobs
