#include "kron/history/catch_up.h"

#include <algorithm>
#include <fcntl.h>
#include <functional>
#include <sys/stat.h>
#include <tuple>
#include <utility>

#include "kron/env/descriptor.h"
#include "kron/env/system_error.h"

namespace kron::history {
namespace {

// Empty; its modification time says since when the journal may lack something.
constexpr std::string_view kMarkName = "catching-up";

// How long an entry can have waited in memory while later ones of other jobs were written.
constexpr Seconds kSlack{120};

constexpr std::size_t kFilesPerStep = 256;
constexpr std::size_t kEntriesPerStep = 1024;

Status make_mark(Directory& directory, Instant since) {
  const std::string path = entry_path(directory.path(), kMarkName);
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  const timespec time{static_cast<time_t>(epoch_seconds(since)), 0};
  const timespec times[] = {time, time};
  if (!file || ::futimens(file.get(), times) != 0 || ::fsync(file.get()) != 0) {
    return fail(system_error("write", path, errno));
  }
  return directory.sync();
}

}  // namespace

Result<std::unique_ptr<CatchUp>> CatchUp::begin(const std::string& state_directory, Journal& journal) {
  std::unique_ptr<CatchUp> catch_up(new CatchUp());
  Result<std::unique_ptr<Directory>> state = catch_up->file_system_.open_directory(state_directory);
  if (!state) return fail(state.error());
  catch_up->state_ = *std::move(state);
  if (Status noted = catch_up->note(journal); !noted) return fail(noted.error());
  return catch_up;
}

Status CatchUp::note(Journal& journal) {
  const Result<FileInfo> mark = journal.directory().info(kMarkName);
  if (mark) {
    since_ = mark->modified;
    return {};
  }
  const Result<std::vector<SegmentInfo>> segments = journal.segments();
  if (!segments) return fail(segments.error());
  for (const SegmentInfo& segment : *segments) since_ = std::max(since_, segment.modified);
  // A full disk is no reason not to start: without the mark only a crash before the end of this could lose something.
  std::ignore = make_mark(journal.directory(), since_);
  return {};
}

Status CatchUp::step(Archive& archive) {
  if (is_done_) return {};
  if (!files_) {
    Result<StateFiles> files = StateFiles::changed_since(*state_, since_ - kSlack);
    if (!files) return fail(files.error());
    files_ = *std::move(files);
  }
  if (files_->has_more()) {
    read_some(archive);
    return {};
  }
  if (told_ < read_.size()) return tell_some(archive);
  return end(archive.journal());
}

// A first start may find a million records with twenty outcomes each; no more than the history keeps is held.
void CatchUp::read_some(const Archive& archive) {
  std::ranges::move(files_->read(*state_, kFilesPerStep), std::back_inserter(read_));
  const std::size_t most = std::max<std::size_t>(archive.retention().most, 1);
  const bool is_last = !files_->has_more();
  if (read_.size() > 2 * most || (is_last && read_.size() > most)) {
    std::ranges::nth_element(read_, read_.begin() + static_cast<std::ptrdiff_t>(most), std::greater<>(), time_of);
    read_.resize(most);
  }
  if (is_last) std::ranges::stable_sort(read_, {}, time_of);
}

Status CatchUp::tell_some(Archive& archive) {
  const Result<Instant> horizon = archive.horizon();
  if (!horizon) return fail(horizon.error());
  const std::size_t end = std::min(read_.size(), told_ + kEntriesPerStep);
  std::vector<Entry> entries;
  for (std::size_t i = told_; i < end; ++i) {
    const Entry& entry = read_[i];
    if (entry.ended_at && *entry.ended_at < *horizon) {
      const auto known = archive.ask([&](Index& index) { return index.with_key(key_of(entry)); });
      if (!known) return fail(known.error());
      if (!*known) continue;
    }
    entries.push_back(entry);
  }
  const Result<std::size_t> news = archive.record(entries);
  if (!news) return fail(news.error());
  news_ += *news;
  told_ = end;
  return {};
}

Status CatchUp::end(Journal& journal) {
  const Status removed = journal.directory().remove(kMarkName);
  if (!removed && removed.error().code != Code::not_found) return removed;
  is_done_ = true;
  files_.reset();
  read_ = {};
  return {};
}

}  // namespace kron::history
