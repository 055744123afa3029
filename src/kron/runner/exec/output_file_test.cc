#include "kron/runner/exec/output_file.h"

#include <csignal>
#include <sys/resource.h>

#include "kron/runner/fake/runner_fixture.h"
#include "kron/testing/property.h"

namespace kron::exec {
namespace {

using runner::contents;

class OutputFileTest : public ::testing::Test {
 protected:
  std::string kept() const { return contents(directory_.file("r1/output")); }

  runner::TemporaryDirectory directory_;
  Descriptor opened_{::open(directory_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  RunDirectory run_{opened_.get(), "r1"};
};

void append(OutputFile& file, const std::string& text) { file.append(text.data(), text.size()); }

TEST_F(OutputFileTest, KeepsAllThatFits) {
  OutputFile file(run_, 4096);
  append(file, std::string(4000, 'a'));
  append(file, std::string(96, 'b'));
  EXPECT_EQ(kept(), std::string(4000, 'a') + std::string(96, 'b'));
  EXPECT_EQ(file.lost(), 0U);
}

TEST_F(OutputFileTest, CutsBehindTheEndOfALineAndSaysHowMuch) {
  OutputFile file(run_, 4096);
  append(file, std::string(2499, 'a') + "\n" + std::string(1596, 'b') + "c");
  EXPECT_EQ(kept(), "[kron: 2500 bytes cut here]\n" + std::string(1596, 'b') + "c");
  EXPECT_EQ(file.lost(), 2500U);
  EXPECT_EQ(file.written(), 4097U);
}

TEST_F(OutputFileTest, KeepsTheNewestWhateverComes) {
  kron::testing::for_all(30, [&] {
    std::filesystem::remove(directory_.file("r1/output"));
    OutputFile file(run_, 4096);
    std::string all;
    const int parts = *rc::gen::inRange(1, 12);
    for (int i = 0; i < parts; ++i) {
      const std::size_t size = *rc::gen::inRange<std::size_t>(1, 9000);
      const std::size_t line = *rc::gen::inRange<std::size_t>(1, 3000);
      std::string part(size, static_cast<char>('a' + i));
      for (std::size_t at = line; at < size; at += line) part[at] = '\n';
      append(file, part);
      all += part;
    }
    std::string text = kept();
    if (all.size() > 4096) {
      const std::string mark = "[kron: " + std::to_string(file.lost()) + " bytes cut here]\n";
      RC_ASSERT(text.starts_with(mark));
      text.erase(0, mark.size());
    }
    RC_ASSERT(text.size() <= 4096U);
    RC_ASSERT(all.ends_with(text));
    RC_ASSERT(file.written() == all.size());
    RC_ASSERT(file.lost() == all.size() - text.size());
  });
}

TEST_F(OutputFileTest, ADiskThatTakesNoMoreLosesOutputAndNothingElse) {
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  OutputFile file(run_, 1 << 20);
  append(file, std::string(1000, 'a'));
  const rlimit small{1000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  append(file, std::string(1000, 'b'));
  append(file, std::string(1000, 'c'));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(kept(), std::string(1000, 'a'));
  EXPECT_EQ(file.error(), EFBIG);
  EXPECT_EQ(file.written(), 3000U);
  EXPECT_EQ(file.lost(), 2000U);
}

}  // namespace
}  // namespace kron::exec
