#pragma once

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "command.h"
#include "kron/env/descriptor.h"

// The command within the test's own process: its standard streams are files in memory, its environment is the test's.
namespace kron::testing {

struct Ran {
  int status = 0;
  std::string out;
  std::string err;
};

// A standard stream that goes to a file in memory for as long as this lives.
class Redirected {
 public:
  Redirected(int descriptor, std::string_view contents = {})
      : descriptor_(descriptor), saved_(::dup(descriptor)), file_(::memfd_create("stream", MFD_CLOEXEC)) {
    EXPECT_EQ(::write(file_.get(), contents.data(), contents.size()), static_cast<ssize_t>(contents.size()));
    ::lseek(file_.get(), 0, SEEK_SET);
    ::dup2(file_.get(), descriptor_);
  }
  ~Redirected() { ::dup2(saved_.get(), descriptor_); }
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;

  std::string text() const {
    std::string all(static_cast<std::size_t>(::lseek(file_.get(), 0, SEEK_END)), '\0');
    EXPECT_EQ(::pread(file_.get(), all.data(), all.size(), 0), static_cast<ssize_t>(all.size()));
    return all;
  }

 private:
  int descriptor_;
  Descriptor saved_;
  Descriptor file_;
};

// Runs `work` with `input` as its standard input, and takes what it prints.
template <class Work>
Ran captured(Work work, std::string_view input = {}) {
  std::fflush(stdout);
  std::fflush(stderr);
  const Redirected in(STDIN_FILENO, input);
  const Redirected out(STDOUT_FILENO);
  const Redirected err(STDERR_FILENO);
  const int status = work();
  std::fflush(stdout);
  std::fflush(stderr);
  return {status, out.text(), err.text()};
}

// `kron WORD…`
inline Ran kron(const std::vector<std::string>& words, std::string_view input = {}) {
  std::vector<const char*> argv{"kron"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  return captured([&] { return cli::run_command(static_cast<int>(argv.size()), argv.data()); }, input);
}

// A variable of the environment for as long as this lives; none without a value.
class Variable {
 public:
  Variable(std::string name, const char* value) : name_(std::move(name)) {
    if (const char* before = std::getenv(name_.c_str())) before_ = before;
    set(value);
  }
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const char* value) const {
    if (value != nullptr) {
      ::setenv(name_.c_str(), value, 1);
    } else {
      ::unsetenv(name_.c_str());
    }
  }

  std::string name_;
  std::optional<std::string> before_;
};

}  // namespace kron::testing

// What the tests of the verbs are written in.
namespace kron::cli {

using ::testing::AllOf;
using testing::captured;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kron;
using ::testing::Not;
using testing::Ran;
using ::testing::StartsWith;
using testing::Variable;

using Words = std::vector<std::string>;

}  // namespace kron::cli
