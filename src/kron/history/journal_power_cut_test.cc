#include <algorithm>
#include <gtest/gtest.h>

#include "kron/env/fake/sweep.h"
#include "kron/history/journal.h"
#include "kron/testing/scale.h"

namespace kron::history {
namespace {

using testing::Crash;
using testing::PowerCutFileSystem;
using testing::Sabotage;
using testing::Sweep;
using testing::SweepCounts;
using testing::SweepOptions;

constexpr Instant kFirstDay = instant_of(1'772'409'600);  // 2026-03-02T00:00:00Z
constexpr Instant kSecondDay = kFirstDay + std::chrono::days(1);
constexpr const char* kDirectory = "/history";

// What append() has promised.
struct Promised {
  std::vector<std::string> durable;  // lines, in the order of their days and of their writing
  bool may_have_gone = false;        // the first day was to be removed
  int crashes = 0;

  void add(const std::vector<std::string>& lines) { durable.insert(durable.end(), lines.begin(), lines.end()); }
};

// False: the power has gone.
bool append(Journal& journal, Promised& promised, Instant at, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  if (!journal.choose(at) || !journal.append(text)) return false;
  promised.add(lines);
  return true;
}

void two_days(Promised& promised, PowerCutFileSystem& file_system) {
  const auto journal = Journal::open(file_system, kDirectory);
  if (!journal) return;
  if (!append(**journal, promised, kFirstDay, {"one", "two"})) return;
  if (!append(**journal, promised, kFirstDay, {"three"})) return;
  if (!append(**journal, promised, kSecondDay, {"four"})) return;
  promised.may_have_gone = true;
  std::ignore = (*journal)->remove({std::chrono::floor<std::chrono::days>(kFirstDay)});
  append(**journal, promised, kSecondDay, {"five", "six"});
}

// The next process goes on in the file that the last one left.
void go_on(Promised& promised, PowerCutFileSystem& file_system, Crash /*crash*/) {
  const auto journal = Journal::open(file_system, kDirectory);
  if (journal) append(**journal, promised, kSecondDay, {"after crash " + std::to_string(++promised.crashes)});
}

std::vector<std::string> all_lines(Journal& journal) {
  std::vector<std::string> lines;
  const std::vector<SegmentInfo> segments = journal.segments().value();
  for (const SegmentInfo& info : segments) {
    const Status read = journal.read(info.segment, 0, [&](std::string_view line, std::uint64_t) {
      lines.emplace_back(line);
      return true;
    });
    if (!read) lines.push_back("unreadable: " + read.error().message);
  }
  return lines;
}

// Every promised line is there, whole, once and in order, whatever was torn around it.
std::string broken(Promised& promised, PowerCutFileSystem& file_system) {
  const auto journal = Journal::open(file_system, kDirectory);
  if (!journal) return "cannot be opened: " + journal.error().message;
  const std::vector<std::string> lines = all_lines(**journal);
  auto at = lines.begin();
  for (const std::string& line : promised.durable) {
    if (promised.may_have_gone && (line == "one" || line == "two" || line == "three")) continue;
    at = std::find(at, lines.end(), line);
    if (at == lines.end()) return "lost, or out of order: " + line;
    ++at;
    if (std::count(lines.begin(), lines.end(), line) != 1) return "doubled: " + line;
  }
  return "";
}

SweepCounts sweep(Sabotage sabotage = Sabotage::none) {
  const auto most = static_cast<std::size_t>(testing::scaled(200));
  const SweepOptions options{.most_survivors = {most, 20}, .sabotage = sabotage};
  return Sweep<Promised>(two_days, go_on, broken, options)({});
}

TEST(JournalPowerCut, NoLineThatWasDurableIsLostTornOrDoubled) {
  const SweepCounts counts = sweep();
  EXPECT_EQ(counts.violations, 0U) << counts;
  EXPECT_GT(counts.power_cuts, 500U);
}

TEST(JournalPowerCut, TheSweepNoticesWhenASyncIsLeftOut) {
  EXPECT_GT(sweep(Sabotage::no_file_sync).violations, 0U);
  EXPECT_GT(sweep(Sabotage::no_directory_sync).violations, 0U);
}

}  // namespace
}  // namespace kron::history
