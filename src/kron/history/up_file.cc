#include "kron/history/up_file.h"

#include <algorithm>
#include <string>
#include <utility>

namespace kron::history {

void UpFile::begin() {
  read();
  times_.begin(now(clock_), clock_.boot_time());
  write();
}

// A file that cannot be read is no reason not to start: it is begun anew, and what it told is not known any more.
void UpFile::read() {
  const Result<std::optional<std::string>> text = file_.read();
  if (text && !*text) return;
  Result<std::vector<UpTime>> all = text ? parse_up_times(**text) : fail(text.error());
  if (all) {
    times_ = UpTimes(*std::move(all));
  } else {
    log_.warning("up_times_lost", {{"path", file_.path()}, {"reason", all.error().message}});
  }
}

void UpFile::note(Nanoseconds busy) {
  if (!is_stopped_) times_.beat(now(clock_), clock_.boot_time(), std::chrono::floor<Seconds>(busy));
}

void UpFile::beat(Nanoseconds busy) {
  if (is_stopped_ || until_next_beat() > Nanoseconds(0)) return;
  note(busy);
  write();
}

Nanoseconds UpFile::until_next_beat() const {
  if (is_stopped_) return UpTimes::kBetweenBeats;  // and then there is nothing to say either
  if (!written_at_) return Nanoseconds(0);
  const Nanoseconds passed = clock_.boot_time() - *written_at_;
  return std::max(Nanoseconds(UpTimes::kBetweenBeats) - passed, Nanoseconds(0));
}

void UpFile::stop(Instant at) {
  if (std::exchange(is_stopped_, true)) return;
  times_.stop(at);
  write();
}

std::vector<UpTime> UpFile::all() {
  note(Nanoseconds(0));
  return times_.all();
}

// If we die in between, the old contents are there, which say that krond was up a minute ago.
void UpFile::write() {
  written_at_ = clock_.boot_time();
  const Status status = file_.write(up_times_text(times_.all()));
  if (!status && !has_failed_) {
    log_.warning("up_times_failed", {{"path", file_.path()}, {"reason", status.error().message}});
  }
  has_failed_ = !status;
}

}  // namespace kron::history
