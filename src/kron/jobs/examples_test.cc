#include <gtest/gtest.h>

#include "kron/jobs/load.h"
#include "kron/testing/golden.h"

namespace kron::jobs {
namespace {

TEST(Examples, LoadWithoutAnythingToSay) {
  ZoneDatabase zones;
  struct Example {
    std::string file;
    std::size_t jobs;
  };
  for (const Example& example : {Example{"backup.kron", 4}, Example{"fleet.yaml", 3}, Example{"cronken.json", 2}}) {
    const std::string path = testing::data_path("../../examples/jobs/") + example.file;
    const LoadedJobs jobs = load_text(path, kron::testing::read_file(path), *spelling_of(path), zones);
    for (const Problem& problem : jobs.problems) ADD_FAILURE() << text_of(problem);
    EXPECT_EQ(jobs.definitions.size(), example.jobs);
  }
}

}  // namespace
}  // namespace kron::jobs
