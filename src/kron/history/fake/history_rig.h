#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "kron/base/rfc3339.h"
#include "kron/env/fake/capturing_log.h"
#include "kron/env/fake/fake_clock.h"
#include "kron/history/archive.h"
#include "kron/state/names.h"
#include "kron/testing/golden.h"
#include "kron/testing/temporary_directory.h"

// What the tests of the history share: a state directory, entries, and short verbs.
namespace kron::history {

inline constexpr Instant kStart = instant_of(1'772'409'600);  // 2026-03-02T00:00:00Z

inline Entry run_started(std::string run_id, std::string job = "backup", Instant at = kStart) {
  return {.job = std::move(job),
          .outcome = Outcome::executed,
          .period = at,
          .chosen = at,
          .run_id = std::move(run_id),
          .started_at = at,
          .pid = 4711};
}

inline Entry run_ended(std::string run_id, std::optional<int> exit_code = 0, std::string job = "backup",
                       Instant at = kStart) {
  Entry entry = run_started(std::move(run_id), std::move(job), at);
  entry.ended_at = at + Seconds(5);
  entry.exit_code = exit_code;
  entry.output_bytes = 17;
  return entry;
}

inline Entry missed(Instant period, std::string job = "backup") {
  return {.job = std::move(job),
          .outcome = Outcome::missed,
          .reason = Reason::deadline,
          .period = period,
          .chosen = period,
          .ended_at = period + Seconds(60)};
}

inline Entry passed_over(Instant first, Instant last, std::string job = "backup") {
  return {.job = std::move(job), .ended_at = last, .passed_over = PassedOver{3, first, last}};
}

class HistoryRig : public ::testing::Test {
 protected:
  std::string path(const std::string& name = "") const { return directory_.file("history/" + name); }

  // Opens the archive as a new process would, and makes it ready.
  void open_archive() {
    archive_.reset();
    Result<std::unique_ptr<Archive>> opened = Archive::open(directory_.file("history"), retention_, clock_, log_);
    ASSERT_TRUE(opened) << opened.error().message;
    archive_ = *std::move(opened);
    const Status ready = archive_->prepare();
    ASSERT_TRUE(ready) << ready.error().message;
  }

  void record(const std::vector<Entry>& entries) {
    const Result<std::size_t> recorded = archive_->record(entries);
    ASSERT_TRUE(recorded) << recorded.error().message;
  }

  std::vector<Entry> all(Query query = {.limit = 1'000'000}) {
    auto found = archive_->ask([&](Index& index) { return index.find(query); });
    EXPECT_TRUE(found) << found.error().message;
    return found ? *std::move(found) : std::vector<Entry>();
  }

  void remove_index() {
    archive_.reset();
    Index::discard(path("index.sqlite"));
  }

  std::vector<std::string> journal_files() const {
    std::vector<std::string> names;
    for (const auto& file : std::filesystem::directory_iterator(path())) {
      if (parse_segment_name(file.path().filename().string())) names.push_back(file.path().filename());
    }
    std::ranges::sort(names);
    return names;
  }

  void write_state(const StateRecord& record) {
    std::ofstream(directory_.file(state_file_name(sha256({record.identity})))) << state::print(record);
  }

  testing::TemporaryDirectory directory_{testing::memory_directory()};
  testing::FakeClock clock_{kStart};
  testing::CapturingLog log_;
  runner::Retention retention_;
  std::unique_ptr<Archive> archive_;
};

// The identifiers of entries, for short expectations.
inline std::vector<std::string> run_ids(const std::vector<Entry>& entries) {
  std::vector<std::string> ids;
  for (const Entry& entry : entries) ids.push_back(entry.run_id);
  return ids;
}

}  // namespace kron::history
