#include <gtest/gtest.h>
#include <regex>
#include <set>

#include "kron/testing/golden.h"

namespace kron::testing {
namespace {

// The page stands beside the tests' data: <root>/tests/data, <root>/docs.
const std::string kPage = testing::data_path("../../docs/failure-modes.md");

// Every test of this program as `Suite.Name`, without the prefix and suffix of parameters.
std::set<std::string> tests_of_this_program() {
  std::set<std::string> names;
  const auto* unit = ::testing::UnitTest::GetInstance();
  for (int s = 0; s < unit->total_test_suite_count(); ++s) {
    const auto* suite = unit->GetTestSuite(s);
    const std::string suite_name(suite->name());
    for (int t = 0; t < suite->total_test_count(); ++t) {
      const std::string name(suite->GetTestInfo(t)->name());
      names.insert(suite_name.substr(suite_name.find('/') + 1) + "." + name.substr(0, name.find('/')));
    }
  }
  return names;
}

std::set<std::string> tests_named_on_the_page() {
  const std::string page = read_file(kPage);
  const std::regex test("`([A-Za-z_0-9]+\\.[A-Z][A-Za-z]{10,})`");
  std::set<std::string> names;
  for (std::sregex_iterator at(page.begin(), page.end(), test); at != std::sregex_iterator(); ++at) {
    names.insert((*at)[1]);
  }
  return names;
}

TEST(FailureModesPage, NamesOnlyTestsThatExist) {
  const auto existing = tests_of_this_program();
  const auto named = tests_named_on_the_page();
  EXPECT_GT(named.size(), 20U);
  for (const std::string& name : named) EXPECT_TRUE(existing.contains(name)) << name;
}

TEST(FailureModesPage, NamesEveryTestOfAFailureModeOrAnInvariant) {
  const auto named = tests_named_on_the_page();
  for (const std::string& name : tests_of_this_program()) {
    const bool belongs_there = name.starts_with("FM_") || name.starts_with("INV_");
    EXPECT_TRUE(!belongs_there || named.contains(name)) << name;
  }
}

}  // namespace
}  // namespace kron::testing
