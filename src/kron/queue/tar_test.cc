#include "kron/queue/tar.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <sys/stat.h>

#include "kron/queue/tar_header.h"
#include "kron/testing/draws.h"
#include "kron/testing/property.h"
#include "kron/testing/temporary_directory.h"

namespace kron {
namespace {

using testing::TemporaryDirectory;

using Files = std::vector<std::pair<std::string, std::string>>;  // path, bytes

Files plain(const std::vector<StagedFile>& staged) {
  Files files;
  for (const StagedFile& file : staged) files.emplace_back(file.path, file.bytes);
  std::ranges::sort(files);
  return files;
}

// What `tar` writes on its standard output.
std::string output_of_tar(const std::string& arguments) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(("tar " + arguments).c_str(), "r"), ::pclose);
  std::string output;
  char bytes[4096];
  while (const std::size_t size = std::fread(bytes, 1, sizeof bytes, pipe.get())) output.append(bytes, size);
  return output;
}

void write(const std::string& path, const std::string& bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << bytes;
}

std::string entry(const std::string& name, char type, const std::string& contents) {
  const auto header = tar::header_block(name, type, contents.size());
  std::string bytes = std::string(header.data(), header.size()) + contents;
  return bytes.append((tar::kBlock - contents.size() % tar::kBlock) % tar::kBlock, '\0');
}
std::string file(const std::string& name) { return entry(name, '0', "x"); }
const std::string kEnd(2 * tar::kBlock, '\0');

TEST(Tar, ReadsWhatGnuTarWritesInEachOfItsFormats) {
  const TemporaryDirectory directory;
  const std::string long_path = std::string(60, 'd') + "/" + std::string(60, 'e') + "/" + std::string(90, 'f');
  const std::string utf8_path = "gr\u00fc\u00dfe/" + std::string(120, 'n');
  const Files expected{{"a.txt", "one\n"}, {"empty", ""}, {utf8_path, "three"}, {long_path, std::string(5000, 'l')}};
  for (const auto& [path, bytes] : expected) write(directory.file(path), bytes);
  std::filesystem::create_directory(directory.file("a-directory"));
  for (const char* format : {"gnu", "ustar", "pax"}) {
    // What ustar cannot name, tar leaves out.
    const bool is_ustar = std::string(format) == "ustar";
    const std::string names = is_ustar ? "a.txt empty " + long_path : std::string(".");
    Files wanted = expected;
    if (is_ustar) wanted.erase(wanted.begin() + 2);
    std::ranges::sort(wanted);
    const auto read =
        read_tar(output_of_tar("-c --format=" + std::string(format) + " -C " + directory.path() + " " + names));
    ASSERT_TRUE(read) << format << ": " << read.error().message;
    EXPECT_EQ(plain(*read), wanted) << format;
  }
}

TEST(Tar, GnuTarReadsWhatIsWritten) {
  const TemporaryDirectory directory;
  const std::string long_path = std::string(80, 'd') + "/" + std::string(200, 'f');
  const std::vector<StagedFile> files{{"a", "1"}, {long_path, "22"}, {"sub/b", std::string(512, '3')}};
  const std::string archive = directory.file("archive.tar");
  std::ofstream(archive) << write_tar(files);
  EXPECT_EQ(output_of_tar("-tf " + archive), "a\n" + long_path + "\nsub/b\n");
  EXPECT_EQ(output_of_tar("-xOf " + archive), "122" + std::string(512, '3'));
}

TEST(Tar, WhatIsWrittenReadsBackTheSame) {
  testing::for_all(200, [] {
    std::vector<StagedFile> files;
    const int count = *rc::gen::inRange(0, 8);
    for (int i = 0; i < count; ++i) {
      const auto name_bytes = static_cast<std::size_t>(*rc::gen::inRange(1, 240));
      std::string path = testing::maybe() ? std::string("sub/") : std::string();
      path += std::to_string(i) + std::string(name_bytes, testing::one_of("x", "=", " ", "\n", "\xc3")[0]);
      files.push_back({path, *rc::gen::arbitrary<std::string>()});
    }
    const auto read = read_tar(write_tar(files));
    RC_ASSERT(read.has_value());
    RC_ASSERT(plain(*read) == plain(files));
  });
}

TEST(Tar, WhatIsNoPlainFileIsRefused) {
  struct Case {
    const char* what;
    std::string archive;
    const char* problem;
  };
  const std::string damaged_sum = [] {
    std::string bytes = file("a") + kEnd;
    bytes[0] = 'b';
    return bytes;
  }();
  for (const Case& c : {
           Case{"hard link", entry("a", '1', "") + kEnd, "links are not staged"},
           Case{"symbolic link", entry("a", '2', "") + kEnd, "links are not staged"},
           Case{"character device", entry("a", '3', "") + kEnd, "neither a file"},
           Case{"block device", entry("a", '4', "") + kEnd, "neither a file"},
           Case{"FIFO", entry("a", '6', "") + kEnd, "neither a file"},
           Case{"long link name", entry("a", 'K', "target") + kEnd, "neither a file"},
           Case{"sparse file", entry("a", 'S', "") + kEnd, "neither a file"},
           Case{"sparse by pax", entry("p", 'x', "22 GNU.sparse.major=1\n") + file("a") + kEnd, "holes"},
           Case{"absolute", file("/etc/passwd") + kEnd, "invalid path"},
           Case{"absolute by pax", entry("p", 'x', "14 path=/etc/x\n") + file("a") + kEnd, "damaged"},
           Case{"absolute by pax, well counted", entry("p", 'x', "15 path=/etc/x\n") + file("a") + kEnd,
                "invalid path"},
           Case{"absolute by a long name", entry("n", 'L', "/etc/x") + file("a") + kEnd, "invalid path"},
           Case{"upwards", file("a/../../b") + kEnd, "invalid path"},
           Case{"upwards after a dot", file("./../b") + kEnd, "invalid path"},
           Case{"upwards directory", entry("../d/", '5', "") + kEnd, "invalid path"},
           Case{"root directory", entry("/", '5', "") + kEnd, "invalid path"},
           Case{"no name", file("") + kEnd, "invalid path"},
           Case{"a file with a directory's name", file("a/") + kEnd, "invalid path"},
           Case{"too deep", file("1/2/3/4/5/6/7/8/9") + kEnd, "invalid path"},
           Case{"twice", file("a") + file("./a") + kEnd, "same path"},
           Case{"a file that is also a directory", file("a") + file("a/b") + kEnd, "same path"},
           Case{"a directory with contents", entry("d", '5', "x") + kEnd, "contents of its own"},
           Case{"size of all files", entry("p", 'g', "10 size=1\n") + file("a") + kEnd, "all files the same size"},
           Case{"a size that is no number", entry("p", 'x', "10 size=x\n") + file("a") + kEnd, "no number"},
           Case{"a huge size", entry("p", 'x', "19 size=9999999999\n") + file("a") + kEnd, "too large"},
           Case{"a record without a value", entry("p", 'x', "7 path\n") + file("a") + kEnd, "no value"},
           Case{"a record longer than all", entry("p", 'x', "99 path=a\n") + file("a") + kEnd, "damaged"},
           Case{"records for nothing", entry("p", 'x', "10 path=a\n") + kEnd, "where a file should be"},
           Case{"something behind the end", file("a") + kEnd + file("b"), "behind its end"},
           Case{"a wrong checksum", damaged_sum, "checksum"},
           Case{"no tar", std::string(1024, 'x'), "checksum"},
           Case{"nothing", "", "cut off"},
           Case{"too large", std::string(kMostTarBytes + 1, '\0'), "too large"},
       }) {
    const auto read = read_tar(c.archive);
    ASSERT_FALSE(read) << c.what;
    EXPECT_EQ(read.error().code, Code::invalid) << c.what;
    EXPECT_NE(read.error().message.find(c.problem), std::string::npos) << c.what << ": " << read.error().message;
  }
}

TEST(Tar, RealLinksAndFifosAreRefused) {
  const TemporaryDirectory directory;
  write(directory.file("a"), "1");
  std::filesystem::create_symlink("/etc/passwd", directory.file("link"));
  ASSERT_EQ(::mkfifo(directory.file("fifo").c_str(), 0600), 0);
  for (const char* name : {"link", "fifo"}) {
    const auto read = read_tar(output_of_tar("-c -C " + directory.path() + " a " + name));
    ASSERT_FALSE(read) << name;
    EXPECT_NE(read.error().message.find(std::string("'") + name + "'"), std::string::npos) << read.error().message;
  }
}

TEST(Tar, AnArchiveCutOffAnywhereIsRefused) {
  const std::vector<StagedFile> files{{"a", std::string(600, 'x')}, {std::string(150, 'n'), "y"}};
  const std::string archive = write_tar(files);
  // Of the two empty blocks at the end one will do.
  for (std::size_t size = 0; size < archive.size() - tar::kBlock; ++size) {
    EXPECT_FALSE(read_tar(std::string_view(archive).substr(0, size))) << size;
  }
  EXPECT_TRUE(read_tar(std::string_view(archive).substr(0, archive.size() - tar::kBlock)));
}

TEST(Tar, RecordsThatDoNotMatterArePassedOver) {
  const auto read = read_tar(entry("g", 'g', "16 comment=1234\n") + entry("p", 'x', "19 mtime=17.250000\n10 path=b\n") +
                             file("a") + file("c") + kEnd);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(plain(*read), (Files{{"b", "x"}, {"c", "x"}}));
}

TEST(Tar, ASizeInARecordIsThatOfTheNextFileOnly) {
  const auto header = tar::header_block("a", '0', 0);
  const std::string without_size = std::string(header.data(), header.size()) + "x" + std::string(tar::kBlock - 1, '\0');
  const auto read = read_tar(entry("p", 'x', "9 size=1\n") + without_size + entry("c", '0', "yyy") + kEnd);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(plain(*read), (Files{{"a", "x"}, {"c", "yyy"}}));
}

TEST(Tar, MoreFilesThanMayBeStagedAreRefused) {
  std::string archive;
  for (std::size_t i = 0; i < kMostStagedFiles; ++i) archive += file(std::to_string(i));
  EXPECT_TRUE(read_tar(archive + kEnd));
  EXPECT_FALSE(read_tar(archive + file("more") + kEnd));
}

}  // namespace
}  // namespace kron
