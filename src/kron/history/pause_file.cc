#include "kron/history/pause_file.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kron::history {

// A file that cannot be read is begun anew with the next change, and what it told is not known any more.
void PauseFile::read() {
  const Result<std::optional<std::string>> text = file_.read();
  if (text && !*text) return;
  Result<std::vector<Pause>> all = text ? parse_pauses(**text) : fail(text.error());
  if (all) {
    pauses_ = Pauses(*std::move(all));
  } else {
    log_.warning("pauses_lost", {{"path", file_.path()}, {"reason", all.error().message}});
  }
}

void PauseFile::begin(Pause pause) {
  pauses_.begin(std::move(pause));
  is_changed_ = true;
}

void PauseFile::end(std::string_view job, Instant at) {
  pauses_.end(job, at);
  is_changed_ = true;
}

void PauseFile::write_changes() {
  if (!is_changed_) return;
  std::string text = pauses_text(pauses_.all());
  // What is too long would not be read again; the oldest go.
  while (text.size() > SmallFile::kMostBytes) {
    const std::vector<Pause>& all = pauses_.all();
    pauses_ = Pauses(std::vector<Pause>(all.begin() + static_cast<std::ptrdiff_t>(all.size() / 4 + 1), all.end()));
    text = pauses_text(pauses_.all());
  }
  const Status status = file_.write(text);
  if (!status && !has_failed_) {
    log_.warning("pauses_failed", {{"path", file_.path()}, {"reason", status.error().message}});
  }
  has_failed_ = !status;
  is_changed_ = !status;
}

}  // namespace kron::history
