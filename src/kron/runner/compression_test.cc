#include "kron/runner/compression.h"

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "kron/runner/output_reader.h"
#include "kron/runner/retention.h"
#include "kron/testing/golden.h"
#include "kron/testing/property.h"
#include "kron/testing/temporary_directory.h"

namespace kron::runner {
namespace {

namespace fs = std::filesystem;

constexpr Instant kNow{Seconds(1'800'000'000)};
constexpr Seconds kDays{2 * 24 * 3600};

class CompressionTest : public ::testing::Test {
 protected:
  std::string path(const std::string& run_id, const std::string& name) const {
    return files_.path() + "/" + run_id + "/" + name;
  }
  static void set_age(const std::string& file, Seconds age) {
    const timespec then{static_cast<time_t>(epoch_seconds(kNow - age)), 0};
    const timespec times[] = {then, then};
    ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  }
  void make_run(const std::string& run_id, const std::string& output, Seconds age) {
    ASSERT_EQ(::mkdir((files_.path() + "/" + run_id).c_str(), 0700), 0);
    { std::ofstream(path(run_id, "output")) << output; }
    set_age(path(run_id, "output"), age);
    set_age(files_.path() + "/" + run_id, age);
  }
  std::size_t compress(const std::set<std::string>& active = {}) {
    const Result<std::size_t> compressed = compress_old_output(files_, {}, active, kNow);
    EXPECT_TRUE(compressed) << compressed.error().message;
    return compressed.value_or(0);
  }
  std::string read_all(const std::string& run_id, std::size_t step = kMostOutputRead) {
    Result<OutputReader> reader = OutputReader::open(files_, run_id);
    EXPECT_TRUE(reader) << reader.error().message;
    std::string text;
    for (;;) {
      const std::string part = reader->read(text.size(), step).value();
      if (part.empty()) return text;
      text += part;
    }
  }

  static std::string sample(std::size_t lines) {
    std::string text;
    for (std::size_t i = 0; i < lines; ++i) text += "line " + std::to_string(i) + " of the output\n";
    return text;
  }

  testing::TemporaryDirectory directory_;
  RunFiles files_ = RunFiles::open(directory_.path()).value();
};

TEST_F(CompressionTest, OldOutputIsCompressedAndReadsAsBefore) {
  const std::string text = sample(100'000);
  make_run("r1", text, kDays);
  EXPECT_EQ(compress(), 1U);
  EXPECT_FALSE(fs::exists(path("r1", "output")));
  EXPECT_LT(fs::file_size(path("r1", "output.gz")), text.size() / 3);
  struct stat info {};
  ASSERT_EQ(::stat(path("r1", "output.gz").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  EXPECT_EQ(OutputReader::open(files_, "r1")->size().value(), text.size());
  EXPECT_EQ(read_all("r1"), text);
  EXPECT_EQ(compress(), 0U);
}

TEST_F(CompressionTest, GunzipReadsIt) {
  make_run("r1", sample(1000), kDays);
  EXPECT_EQ(compress(), 1U);
  const std::string command = "gunzip " + path("r1", "output.gz");
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(testing::read_file(path("r1", "output")), sample(1000));
}

TEST_F(CompressionTest, NewSmallAndActiveOutputStaysAsItIs) {
  make_run("new", sample(1000), Seconds(3600));
  make_run("small", "text\n", kDays);
  make_run("active", sample(1000), kDays);
  EXPECT_EQ(compress({"active"}), 0U);
  for (const char* run_id : {"new", "small", "active"}) EXPECT_TRUE(fs::exists(path(run_id, "output"))) << run_id;
}

TEST_F(CompressionTest, TheAgeOfTheRunStays) {
  make_run("r1", sample(1000), kDays);
  EXPECT_EQ(compress(), 1U);
  struct stat info {};
  ASSERT_EQ(::stat((files_.path() + "/r1").c_str(), &info), 0);
  EXPECT_EQ(info.st_mtime, epoch_seconds(kNow - kDays));
}

TEST_F(CompressionTest, CompressedOutputGoesWithItsRun) {
  make_run("r1", sample(1000), kDays);
  EXPECT_EQ(compress(), 1U);
  EXPECT_EQ(remove_old_runs(files_, {.age = kDays - Seconds(1)}, {}, kNow).value(), 1U);
  EXPECT_FALSE(fs::exists(files_.path() + "/r1"));
}

TEST_F(CompressionTest, WhatADeathLeftIsPutRight) {
  make_run("r1", sample(1000), kDays);
  std::ofstream(path("r1", "output.gz")) << "whole or not";
  std::ofstream(path("r1", ".output.gz")) << "unfinished";
  EXPECT_EQ(read_all("r1"), sample(1000));
  EXPECT_EQ(compress(), 1U);
  EXPECT_EQ(read_all("r1"), sample(1000));
  EXPECT_FALSE(fs::exists(path("r1", ".output.gz")));
}

TEST_F(CompressionTest, ALinkIsNeitherCompressedNorRead) {
  std::ofstream(directory_.file("secret")) << sample(1000);
  set_age(directory_.file("secret"), kDays);
  for (const char* name : {"output", "output.gz"}) {
    ASSERT_EQ(::mkdir((files_.path() + "/" + name).c_str(), 0700), 0);
    fs::create_symlink(directory_.file("secret"), path(name, name));
    EXPECT_FALSE(OutputReader::open(files_, name));
  }
  EXPECT_EQ(compress(), 0U);
}

TEST_F(CompressionTest, EveryRangeReadsAlikePlainAndCompressed) {
  const std::string text = sample(500);
  make_run("plain", text, Seconds(0));
  make_run("packed", text, kDays);
  EXPECT_EQ(compress(), 1U);
  OutputReader plain = OutputReader::open(files_, "plain").value();
  OutputReader packed = OutputReader::open(files_, "packed").value();
  testing::for_all(100, [&] {
    const auto offset = *rc::gen::inRange<std::uint64_t>(0, text.size() + 100);
    const auto length = *rc::gen::inRange<std::size_t>(0, text.size() + 100);
    const std::string expected = offset < text.size() ? text.substr(offset, length) : std::string();
    RC_ASSERT(plain.read(offset, length).value() == expected);
    RC_ASSERT(packed.read(offset, length).value() == expected);
  });
  EXPECT_EQ(packed.read(UINT64_MAX, 10).value(), "");
}

TEST_F(CompressionTest, WhatIsNoRunIsRefused) {
  for (const char* run_id : {"", "..", "../r1", "a/b", ".hidden"}) {
    EXPECT_EQ(OutputReader::open(files_, run_id).error().code, Code::invalid) << run_id;
  }
  EXPECT_EQ(OutputReader::open(files_, "none").error().code, Code::not_found);
}

TEST_F(CompressionTest, DamagedOutputIsAnErrorAndNotACrash) {
  make_run("r1", sample(1000), kDays);
  EXPECT_EQ(compress(), 1U);
  const std::string packed = testing::read_file(path("r1", "output.gz"));
  std::ofstream(path("r1", "output.gz")) << packed.substr(0, 10);
  EXPECT_EQ(OutputReader::open(files_, "r1").error().code, Code::io);
  std::string damaged = packed;
  for (std::size_t i = 100; i < 200; ++i) damaged[i] = static_cast<char>(~damaged[i]);
  std::ofstream(path("r1", "output.gz")) << damaged;
  OutputReader reader = OutputReader::open(files_, "r1").value();
  const Result<std::string> bytes = reader.read(0, kMostOutputRead);
  EXPECT_TRUE(!bytes || *bytes != sample(1000));
}

TEST_F(CompressionTest, AReaderFollowsARunThatGoesOn) {
  make_run("r1", "one\n", Seconds(0));
  OutputReader reader = OutputReader::open(files_, "r1").value();
  EXPECT_EQ(reader.read(0, 100).value(), "one\n");
  std::ofstream(path("r1", "output"), std::ios::app) << "two\n";
  EXPECT_EQ(reader.read(4, 100).value(), "two\n");
  EXPECT_TRUE(reader.is_current());
  std::ofstream(path("r1", "new")) << "cut\n";
  fs::rename(path("r1", "new"), path("r1", "output"));
  EXPECT_FALSE(reader.is_current());
}

}  // namespace
}  // namespace kron::runner
