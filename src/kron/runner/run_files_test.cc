#include "kron/runner/run_files.h"

#include <algorithm>
#include <fstream>

#include "kron/runner/fake/runner_fixture.h"

namespace kron::runner {
namespace {

TEST(RunFiles, ARunIdIsAHarmlessName) {
  for (const char* good : {"a", "A-1_b.c", "2026-03-01T000000Z-7f"}) EXPECT_TRUE(is_run_id(good)) << good;
  for (const char* bad : {"", ".", "..", ".hidden", "a/b", "a b", "ä", "a\n"}) EXPECT_FALSE(is_run_id(bad)) << bad;
  EXPECT_TRUE(is_run_id(std::string(128, 'a')));
  EXPECT_FALSE(is_run_id(std::string(129, 'a')));
  EXPECT_FALSE(is_run_id(std::string("a\0b", 3)));
}

class RunFilesTest : public ::testing::Test {
 protected:
  RunFilesTest() : files_(RunFiles::open(directory_.path()).value()) {}

  void make(const std::string& run_id) { std::filesystem::create_directory(directory_.file("runs/" + run_id)); }

  TemporaryDirectory directory_;
  RunFiles files_;
};

TEST_F(RunFilesTest, ARunHasADirectoryOfItsName) {
  EXPECT_EQ(files_.output_path("r1"), directory_.file("runs/r1/output"));
  EXPECT_FALSE(files_.has("r1"));
  make("r1");
  EXPECT_TRUE(files_.has("r1"));
  EXPECT_FALSE(files_.has("..")) << "no run id";
}

TEST_F(RunFilesTest, ARunThatWasHeldWhenItsDaemonDiedIsNone) {
  make("r1");
  { std::ofstream(directory_.file("runs/r1/exit")) << "kron-exit 1\nrun=r1\nend\n"; }
  ASSERT_TRUE(files_.read_exit("r1") && files_.read_exit("r1")->never_ran);
  EXPECT_FALSE(files_.has("r1"));
  { std::ofstream(directory_.file("runs/r1/exit")) << "kron-exit 1\nrun=r1\ncode=0\nend\n"; }
  EXPECT_TRUE(files_.has("r1"));
}

TEST_F(RunFilesTest, ListsAndRemovesRuns) {
  make("r1");
  make("r2");
  { std::ofstream(files_.output_path("r1")) << "text"; }
  std::vector<std::string> found;
  const auto note = [&](std::string_view run_id) { found.emplace_back(run_id); };
  ASSERT_TRUE(files_.list(note));
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, (std::vector<std::string>{"r1", "r2"}));
  EXPECT_TRUE(files_.remove("r1"));
  EXPECT_TRUE(files_.remove("r1"));
  EXPECT_FALSE(files_.remove(".."));
  found.clear();
  ASSERT_TRUE(files_.list(note));
  EXPECT_EQ(found, std::vector<std::string>{"r2"});
}

TEST_F(RunFilesTest, ARecordThatIsALinkOrHugeIsNotRead) {
  make("r1");
  { std::ofstream(directory_.file("elsewhere")) << "kron-exit 1\nrun=r1\ncode=0\nend\n"; }
  std::filesystem::create_symlink(directory_.file("elsewhere"), directory_.file("runs/r1/exit"));
  EXPECT_FALSE(files_.read_exit("r1"));
  std::filesystem::remove(directory_.file("runs/r1/exit"));
  { std::ofstream(directory_.file("runs/r1/exit")) << "kron-exit 1\nrun=r1\ncode=0\nend\n"; }
  EXPECT_TRUE(files_.read_exit("r1"));
  { std::ofstream(directory_.file("runs/r1/exit")) << "kron-exit 1\nrun=r1\ncode=0\nend\n" << std::string(5000, 'x'); }
  EXPECT_FALSE(files_.read_exit("r1"));
  EXPECT_FALSE(files_.read_exit("r2"));
}

TEST(RunFiles, NeedsTheStateDirectory) {
  EXPECT_EQ(RunFiles::open("/nonexistent/state").error().code, Code::not_found);
}

}  // namespace
}  // namespace kron::runner
