#include "kron/runner/retention.h"

#include <fcntl.h>
#include <fstream>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "kron/runner/fake/runner_fixture.h"

namespace kron::runner::retention_test {
namespace {

using ::testing::UnorderedElementsAre;

constexpr Instant kNow{Seconds(1'800'000'000)};

class RetentionTest : public ::testing::Test {
 protected:
  void make_run(const std::string& run_id, Seconds age, const std::string& directory_in_it = "") {
    const std::string path = files_.path() + "/" + run_id;
    ASSERT_EQ(::mkdir(path.c_str(), 0700), 0);
    if (!directory_in_it.empty()) {
      ASSERT_EQ(::mkdir((path + "/" + directory_in_it).c_str(), 0700), 0);
    }
    { std::ofstream(path + "/output") << "text\n"; }
    const auto then = static_cast<time_t>((kNow - age).time_since_epoch().count());
    const timespec times[] = {{then, 0}, {then, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
  std::vector<std::string> left() const {
    std::vector<std::string> ids;
    EXPECT_TRUE(files_.list([&](std::string_view id) { ids.emplace_back(id); }));
    return ids;
  }

  TemporaryDirectory directory_;
  RunFiles files_ = RunFiles::open(directory_.path()).value();
};

TEST_F(RetentionTest, RunsThatAreTooOldGo) {
  make_run("old", Seconds(101));
  make_run("new", Seconds(99));
  EXPECT_EQ(remove_old_runs(files_, {.age = Seconds(100)}, {}, kNow).value(), 1U);
  EXPECT_THAT(left(), UnorderedElementsAre("new"));
}

TEST_F(RetentionTest, OfTooManyTheOldestGo) {
  for (int i = 0; i < 5; ++i) make_run("run-" + std::to_string(i), Seconds(i));
  EXPECT_EQ(remove_old_runs(files_, {.age = Seconds(100), .most = 2}, {}, kNow).value(), 3U);
  EXPECT_THAT(left(), UnorderedElementsAre("run-0", "run-1"));
}

TEST_F(RetentionTest, ARunThatGoesOnStaysHoweverOldItIs) {
  make_run("old", Seconds(1000));
  EXPECT_EQ(remove_old_runs(files_, {.age = Seconds(100), .most = 0}, {"old"}, kNow).value(), 0U);
  EXPECT_THAT(left(), UnorderedElementsAre("old"));
}

TEST_F(RetentionTest, OneThatCannotBeRemovedKeepsNoOtherFromIt) {
  make_run("oldest", Seconds(300), "not-ours");
  make_run("older", Seconds(200));
  make_run("old", Seconds(150));
  Stayed stayed;
  EXPECT_EQ(remove_old_runs(files_, {.age = Seconds(100)}, {}, kNow, {}, &stayed).value(), 2U);
  EXPECT_THAT(left(), UnorderedElementsAre("oldest"));
  EXPECT_EQ(stayed.count, 1U);
  EXPECT_NE(stayed.first.message.find("oldest"), std::string::npos) << stayed.first.message;
}

}  // namespace
}  // namespace kron::runner::retention_test
