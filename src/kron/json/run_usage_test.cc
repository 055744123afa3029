#include "kron/json/run_usage.h"

#include <gtest/gtest.h>

#include "kron/json/document.h"
#include "kron/testing/property.h"

namespace kron {
namespace {

std::string written(const RunUsage& usage) {
  JsonWriter out;
  out.begin_map();
  write_usage(out, usage);
  out.end_map();
  return out.take();
}

std::optional<RunUsage> read(std::string_view json, std::vector<Error>& errors) {
  const Node document = parse_json(json).value();
  Fields fields(document, "", errors);
  return read_usage(fields);
}

TEST(RunUsage, IsWrittenInTheNamesOfTheFormat) {
  EXPECT_EQ(written({std::chrono::microseconds(1'250'000), std::chrono::microseconds(125), 4096, 0, 512}),
            R"({"cpuUserSeconds":1.25,"cpuSystemSeconds":0.000125,"memoryBytes":4096,"writtenBytes":512})");
}

TEST(RunUsage, ReadsBackEqual) {
  testing::for_all(200, [] {
    const auto number = [] { return *rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000); };
    const RunUsage usage{std::chrono::microseconds(number()), std::chrono::microseconds(number()),
                         static_cast<std::uint64_t>(number()), static_cast<std::uint64_t>(number()),
                         static_cast<std::uint64_t>(number())};
    std::vector<Error> errors;
    RC_ASSERT(read(written(usage), errors) == usage);
    RC_ASSERT(errors.empty());
  });
}

TEST(RunUsage, WhatIsNotThereIsNotKnown) {
  std::vector<Error> errors;
  EXPECT_EQ(read("{}", errors), std::nullopt);
  EXPECT_TRUE(errors.empty());
  for (const char* wrong : {R"({"cpuUserSeconds":"1"})", R"({"cpuSystemSeconds":-1})", R"({"cpuUserSeconds":1e300})",
                            R"({"memoryBytes":-1})", R"({"readBytes":"x"})"}) {
    errors.clear();
    read(wrong, errors);
    EXPECT_EQ(errors.size(), 1U) << wrong;
  }
}

}  // namespace
}  // namespace kron
