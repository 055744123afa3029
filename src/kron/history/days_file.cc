#include "kron/history/days_file.h"

#include <string>
#include <tuple>

namespace kron::history {
namespace {

constexpr std::string_view kDaysName = "days.jsonl";
constexpr std::string_view kDaysNewName = "days.jsonl.new";
constexpr std::size_t kDaysAtOnce = 4096;
constexpr std::size_t kFewLines = 1000;  // of which it does not matter how many hold
constexpr std::size_t kNewChunk = 1 << 20;

}  // namespace

Status DaysFile::sync(File& file) {
  File* const files[] = {&file};
  return file_system_.sync_together(files).front();
}

// Lines that a crash cut off are ended.
Status DaysFile::open() {
  if (file_) return {};
  Result<std::unique_ptr<File>> file = directory_.append(kDaysName, 0600);
  if (!file) return fail(file.error());
  const Result<FileInfo> info = directory_.info(kDaysName);
  if (!info) return fail(info.error());
  if (info->size != 0) {
    const Result<std::string> last = directory_.read_part(kDaysName, info->size - 1, 1);
    if (!last) return fail(last.error());
    if (*last != "\n") {
      if (Status ended = write_all(**file, "\n"); !ended) return ended;
    }
  }
  if (Status durable = directory_.sync(); !durable) return durable;
  file_ = *std::move(file);
  return {};
}

Status DaysFile::read_into(Index& index) {
  const Result<FileInfo> info = directory_.info(kDaysName);
  if (!info) return info.error().code == Code::not_found ? Status() : Status(fail(info.error()));
  Result<DaysKnown> known = index.days_known();
  if (!known) return fail(known.error());
  if (info->size < known->size) *known = {};  // somebody cut the file, or it was written anew
  if (info->size == known->size) return {};
  Status status = index.begin();
  std::size_t read_now = 0;
  const auto finish = [&] {
    if (status) status = index.set_days_known(*known);
    if (status) status = index.commit();
    return status.has_value();
  };
  const Status read = read_lines(directory_, kDaysName, known->size, [&](std::string_view line, std::uint64_t end) {
    known->size = end;
    ++known->lines;
    if (const Result<DayTotals> totals = parse_day_line(line); totals && status) status = index.put_day(*totals);
    if (++read_now % kDaysAtOnce == 0 && finish()) status = index.begin();
    return status.has_value();
  });
  finish();
  return read ? status : read;
}

// If we die between the two, the same lines are written again.
Status DaysFile::append(Index& index, const std::vector<DayTotals>& totals) {
  if (Status opened = open(); !opened) return opened;
  std::string lines;
  for (const DayTotals& one : totals) lines += day_line(one);
  Status durable = write_all(*file_, lines);
  if (durable) durable = sync(*file_);
  const Result<FileInfo> info = directory_.info(kDaysName);
  const Result<DaysKnown> known = index.days_known();
  if (!durable || !info || !known) {
    file_.reset();
    return durable ? fail(info ? known.error() : info.error()) : durable;
  }
  Status status = index.begin();
  if (status) status = index.mark_written(totals);
  if (status) status = index.set_days_known({info->size, known->lines + totals.size()});
  if (status) status = index.commit();
  if (!status) std::ignore = index.rollback();
  return status;
}

Status DaysFile::write_from(Index& index, std::chrono::sys_days today) {
  while (true) {
    const Result<std::vector<DayTotals>> totals = index.unwritten_days(today, kDaysAtOnce);
    if (!totals) return fail(totals.error());
    if (totals->empty()) return {};
    if (Status appended = append(index, *totals); !appended) return appended;
  }
}

Status DaysFile::expire(Index& index, std::chrono::sys_days today) {
  const Result<std::size_t> left = index.keep_days(today - kDaysKept, most_);
  if (!left) return fail(left.error());
  const Result<DaysKnown> known = index.days_known();
  if (!known) return fail(known.error());
  const bool is_mostly_old = known->lines > 2 * *left + kFewLines;
  return is_mostly_old || known->lines > most_ + most_ / 8 ? write_anew(index) : Status();
}

// The old file holds until the new one, durable, takes its name. If we die before the index knows its size, all of it
// is read again, and what the index has holds.
Status DaysFile::write_anew(Index& index) {
  file_.reset();
  const Status removed = directory_.remove(kDaysNewName);
  if (!removed && removed.error().code != Code::not_found) return removed;
  Result<std::unique_ptr<File>> file = directory_.create(kDaysNewName, 0600);
  if (!file) return fail(file.error());
  Status status;
  std::string chunk;
  DaysKnown known;
  const Status visited = index.each_written_day([&](const DayTotals& totals) {
    chunk += day_line(totals);
    ++known.lines;
    if (chunk.size() < kNewChunk || !status) return;
    known.size += chunk.size();
    status = write_all(**file, chunk);
    chunk.clear();
  });
  if (!visited) return visited;
  known.size += chunk.size();
  if (status) status = write_all(**file, chunk);
  if (status) status = sync(**file);
  if (status) status = directory_.rename(kDaysNewName, directory_, kDaysName, IfTaken::replace);
  if (status) status = directory_.sync();
  return status ? index.set_days_known(known) : status;
}

}  // namespace kron::history
