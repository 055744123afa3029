#include "worker_output.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "kron/env/real_file_system.h"
#include "kron/queue/task_queue.h"
#include "kron/testing/temporary_directory.h"

// What a command has left in its place: whoever wrote it, nothing but plain files within the limits is taken.
namespace kron::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class WorkerOutput : public ::testing::Test {
 protected:
  void file(const std::string& path, const std::string& text) const {
    const std::filesystem::path full = directory_.file(path);
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text;
  }
  Result<std::vector<StagedFile>> staged() {
    const auto directory = files_.open_directory(directory_.path());
    return read_staged_files(**directory);
  }
  std::vector<std::string> names() {
    std::vector<std::string> names;
    const std::vector<StagedFile> files = staged().value();
    for (const StagedFile& one : files) names.push_back(one.path + "=" + one.bytes);
    return names;
  }
  Result<std::vector<NewTask>> follow_ups() {
    const auto directory = files_.open_directory(directory_.path());
    return read_follow_ups(**directory, "follow-ups");
  }

  testing::TemporaryDirectory directory_{testing::memory_directory()};
  RealFileSystem files_;
};

TEST_F(WorkerOutput, FilesAreReadInOrderWithTheirPaths) {
  file("b.txt", "2");
  file("a/x/deep.txt", "1");
  file("a/empty", "");
  EXPECT_THAT(names(), ElementsAre("a/empty=", "a/x/deep.txt=1", "b.txt=2"));
}

TEST_F(WorkerOutput, NothingStagedIsNothing) {
  EXPECT_THAT(names(), ElementsAre());
  std::filesystem::create_directories(directory_.file("empty/directory"));
  EXPECT_THAT(names(), ElementsAre());
}

TEST_F(WorkerOutput, LinksAndPipesAreRefusedByName) {
  file("outside", "secret");
  std::filesystem::create_symlink("/etc/passwd", directory_.file("link"));
  const auto link = staged();
  ASSERT_FALSE(link);
  EXPECT_EQ(link.error().code, Code::invalid);
  EXPECT_THAT(link.error().message, HasSubstr("staged 'link'"));
  std::filesystem::remove(directory_.file("link"));
  ASSERT_EQ(::mkfifo(directory_.file("pipe").c_str(), 0600), 0);
  EXPECT_THAT(staged().error().message, HasSubstr("staged 'pipe'"));
}

TEST_F(WorkerOutput, DirectoriesMayBeNestedAsDeepAsTheLimitAndNoDeeper) {
  std::string path;
  for (std::size_t i = 0; i + 1 < kMostStagedDepth; ++i) path += "d/";
  file(path + "file", "x");
  EXPECT_TRUE(staged()) << path;
  file(path + "d/d/d/file", "x");
  const auto deep = staged();
  ASSERT_FALSE(deep);
  EXPECT_THAT(deep.error().message, HasSubstr("nested deeper than"));
}

TEST_F(WorkerOutput, AsManyFilesAsTheLimitAndNotOneMore) {
  for (std::size_t i = 0; i < kMostStagedFiles; ++i) file("f" + std::to_string(i), "");
  EXPECT_EQ(staged().value().size(), kMostStagedFiles);
  file("one-more", "");
  EXPECT_THAT(staged().error().message, HasSubstr("pack them"));
}

TEST_F(WorkerOutput, FollowUpsAreLinesOfTasksWithIds) {
  EXPECT_TRUE(follow_ups().value().empty()) << "no such file";
  file("follow-ups",
       "\n{\"taskId\":\"a\",\"payload\":{\"type\":\"t\"}}\n  \n{\"taskId\":\"b\",\"payload\":{\"type\":\"t\"}}");
  const auto tasks = follow_ups().value();
  ASSERT_EQ(tasks.size(), 2U);
  EXPECT_EQ(tasks[0].id, "a");
  EXPECT_EQ(tasks[1].id, "b");
}

TEST_F(WorkerOutput, AFollowUpThatIsNoneIsNamedByItsLine) {
  file("follow-ups", "{\"taskId\":\"a\",\"payload\":{\"type\":\"t\"}}\nnonsense\n");
  EXPECT_THAT(follow_ups().error().message, HasSubstr("follow-ups, line 2: "));
  file("follow-ups", "{\"payload\":{\"type\":\"t\"}}\n");
  EXPECT_THAT(follow_ups().error().message, HasSubstr("needs a taskId"));
  std::filesystem::remove(directory_.file("follow-ups"));
  std::filesystem::create_symlink("/etc/passwd", directory_.file("follow-ups"));
  EXPECT_FALSE(follow_ups());
}

}  // namespace
}  // namespace kron::cli
