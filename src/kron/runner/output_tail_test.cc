#include "kron/runner/output_tail.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <zlib.h>

#include "kron/testing/property.h"
#include "kron/testing/temporary_directory.h"

namespace kron::runner {
namespace {

using Lines = std::vector<std::string>;

class OutputTailTest : public ::testing::Test {
 protected:
  OutputTailTest() { std::filesystem::create_directories(run_); }

  void append(std::string_view text) { std::ofstream(run_ / "output", std::ios::app | std::ios::binary) << text; }
  // As kron-exec does when the file is full.
  void replace(std::string_view text) {
    std::ofstream(run_ / ".output", std::ios::binary) << text;
    std::filesystem::rename(run_ / ".output", run_ / "output");
  }
  LineTail lines(std::uint64_t from = 0) { return {directory_.path(), "run", from}; }
  OutputTail bytes(std::uint64_t from = 0) { return {directory_.path(), "run", from}; }

  static Lines all_of(LineTail& tail, bool is_over) {
    Lines all;
    for (const LineTail::Line& line : tail.next(1000, 1 << 20, is_over)) all.push_back(line.text);
    return all;
  }

  kron::testing::TemporaryDirectory directory_;
  std::filesystem::path run_ = std::filesystem::path(directory_.path()) / "run";
};

TEST_F(OutputTailTest, BytesComeAsTheyAreWritten) {
  OutputTail tail = bytes();
  EXPECT_EQ(tail.read(100).bytes, "");
  append("hello ");
  EXPECT_EQ(tail.read(100).bytes, "hello ");
  append("world");
  EXPECT_EQ(tail.read(3).bytes, "wor");
  EXPECT_EQ(tail.read(100).bytes, "ld");
  EXPECT_EQ(tail.position(), 11U);
}

TEST_F(OutputTailTest, AFileThatWasCutGoesOnWhereTheOldOneEndedOrSaysWhatIsLost) {
  OutputTail tail = bytes();
  append("0123456789");
  EXPECT_EQ(tail.read(100).bytes, "0123456789");
  replace("[kron: 6 bytes cut here]\n6789ab");
  EXPECT_EQ(tail.read(100).bytes, "ab");
  replace("[kron: 20 bytes cut here]\nxyz");
  const OutputTail::Piece piece = tail.read(100);
  EXPECT_EQ(piece.bytes, "xyz");
  EXPECT_EQ(piece.lost, 8U);
  EXPECT_EQ(piece.cut, 20U);
  EXPECT_EQ(tail.position(), 23U);
}

TEST_F(OutputTailTest, TheExtentIsWhatWasWrittenAndIsThere) {
  OutputTail tail = bytes();
  EXPECT_EQ(tail.extent().end, 0U);
  append("hello");
  EXPECT_EQ(tail.extent().first, 0U);
  EXPECT_EQ(tail.extent().end, 5U);
  replace("[kron: 3 bytes cut here]\nlo world");
  EXPECT_EQ(tail.extent().first, 3U);
  EXPECT_EQ(tail.extent().end, 11U);
  EXPECT_EQ(bytes(9).read(100).bytes, "ld");
}

TEST_F(OutputTailTest, LinesAreWhole) {
  LineTail tail = lines();
  EXPECT_FALSE(tail.has_more(true));
  append("one\ntw");
  EXPECT_EQ(all_of(tail, false), (Lines{"one\n"}));
  EXPECT_FALSE(tail.has_more(false));
  append("o\n\nthree");
  EXPECT_TRUE(tail.has_more(false));
  EXPECT_EQ(all_of(tail, false), (Lines{"two\n", "\n"}));
  EXPECT_TRUE(tail.has_more(true));
  EXPECT_EQ(all_of(tail, true), (Lines{"three"}));
  EXPECT_EQ(all_of(tail, true), (Lines{}));
}

TEST_F(OutputTailTest, AChunkHasLimitsAndAtLeastOneLine) {
  append("aaaa\nbbbb\ncccc\ndddd\n");
  LineTail tail = lines();
  EXPECT_EQ(tail.next(3, 10, true).size(), 2U);
  EXPECT_EQ(tail.next(1, 100, true).size(), 1U);
  EXPECT_EQ(tail.next(5, 2, true).size(), 1U);
  EXPECT_FALSE(tail.has_more(true));
}

TEST_F(OutputTailTest, ALongLineComesInPieces) {
  const std::string line(2 * kMostTailLine + 5, 'x');
  append(line + "\nnext\n");
  LineTail tail = lines();
  const Lines all = all_of(tail, true);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].size(), kMostTailLine);
  EXPECT_EQ(all[1].size(), kMostTailLine);
  EXPECT_EQ(all[2], "xxxxx\n");
  EXPECT_EQ(all[3], "next\n");
}

TEST_F(OutputTailTest, ALineOfTheLongestLengthIsOne) {
  append(std::string(kMostTailLine, 'x') + "\n");
  LineTail tail = lines();
  EXPECT_EQ(all_of(tail, true).size(), 1U);
}

TEST_F(OutputTailTest, ReadingGoesOnFromAnyLinesEnd) {
  append("one\ntwo\n" + std::string(kMostTailLine + 3, 'y') + "\nlast");
  LineTail whole = lines();
  const std::vector<LineTail::Line> all = whole.next(1000, 1 << 20, true);
  ASSERT_EQ(all.size(), 5U);
  for (std::size_t from = 0; from < all.size(); ++from) {
    LineTail tail = lines(all[from].end);
    const std::vector<LineTail::Line> rest = tail.next(1000, 1 << 20, true);
    EXPECT_EQ(rest, std::vector<LineTail::Line>(all.begin() + static_cast<std::ptrdiff_t>(from) + 1, all.end()));
  }
}

TEST_F(OutputTailTest, WhatIsMissingIsALineOfItsOwn) {
  LineTail tail = lines();
  append("one\nunfinished");
  EXPECT_EQ(all_of(tail, false), (Lines{"one\n"}));
  replace("[kron: 30 bytes cut here]\nthirty\n");
  EXPECT_EQ(all_of(tail, true), (Lines{"unfinished\n", "[kron: 16 bytes cut here]\n", "thirty\n"}));
  LineTail late = lines(4);
  EXPECT_EQ(all_of(late, true), (Lines{"[kron: 26 bytes cut here]\n", "thirty\n"}));
}

TEST_F(OutputTailTest, CompressedOutputIsReadWhenThereIsNoOther) {
  const std::string text = "[kron: 5 bytes cut here]\nabc\ndef\n";
  const gzFile file = gzopen((run_ / "output.gz").c_str(), "wb");
  ASSERT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
  ASSERT_EQ(gzclose(file), Z_OK);
  LineTail tail = lines(9);
  EXPECT_EQ(all_of(tail, true), (Lines{"def\n"}));
  LineTail whole = lines();
  EXPECT_EQ(all_of(whole, true), (Lines{"[kron: 5 bytes cut here]\n", "abc\n", "def\n"}));
}

TEST_F(OutputTailTest, AnyBytesInAnyPiecesGiveTheSameLines) {
  kron::testing::for_all(60, [&] {
    std::filesystem::remove(run_ / "output");
    const auto parts = *rc::gen::container<std::vector<std::string>>(
        rc::gen::container<std::string>(rc::gen::element('\n', 'a', '\0', '\xff', '\r')));
    LineTail tail = lines();
    std::string written;
    std::string read;
    for (const std::string& part : parts) {
      append(part);
      written += part;
      for (const LineTail::Line& line : tail.next(1000, 1 << 20, false)) {
        RC_ASSERT(line.text.find('\n') == line.text.size() - 1);
        read += line.text;
        RC_ASSERT(line.end == read.size());
      }
    }
    for (const LineTail::Line& line : tail.next(1000, 1 << 20, true)) read += line.text;
    RC_ASSERT(read == written);
  });
}

}  // namespace
}  // namespace kron::runner
