#include "kron/runner/find_kron_exec.h"

#include <fstream>
#include <sys/stat.h>

#include "kron/runner/fake/runner_fixture.h"

namespace kron::runner {
namespace {

class FindKronExecTest : public ::testing::Test {
 protected:
  std::string install(const std::string& place) {
    const std::string path = directory_.file(place);
    std::filesystem::create_directories(path.substr(0, path.rfind('/')));
    { std::ofstream(path) << "#!/bin/sh\n"; }
    EXPECT_EQ(::chmod(path.c_str(), 0755), 0);
    return path;
  }

  TemporaryDirectory directory_;
  std::string daemon_ = directory_.file("sbin/krond");
};

TEST_F(FindKronExecTest, ThePathGivenIsTheOneTaken) {
  const std::string given = install("elsewhere/kron-exec");
  install("sbin/kron-exec");
  EXPECT_EQ(find_kron_exec(given, daemon_), given);
  EXPECT_EQ(find_kron_exec(directory_.file("missing"), daemon_).error().code, Code::not_found);
}

TEST_F(FindKronExecTest, ElseTheOneBesideTheDaemonOrInLibexec) {
  std::filesystem::create_directories(directory_.file("sbin"));
  EXPECT_EQ(find_kron_exec("", daemon_).error().code, Code::not_found);
  install("libexec/kron/kron-exec");
  EXPECT_EQ(find_kron_exec("", daemon_), directory_.file("sbin/../libexec/kron/kron-exec"));
  install("sbin/kron-exec");
  EXPECT_EQ(find_kron_exec("", daemon_), directory_.file("sbin/kron-exec"));
}

TEST_F(FindKronExecTest, AFileThatMayNotBeExecutedIsNone) {
  const std::string path = install("sbin/kron-exec");
  EXPECT_EQ(::chmod(path.c_str(), 0644), 0);
  EXPECT_FALSE(find_kron_exec("", daemon_));
}

}  // namespace
}  // namespace kron::runner
