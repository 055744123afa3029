#include "event_stream.h"

#include <utility>

namespace kron::cli {

bool EventStream::take(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    line_ += bytes.substr(0, end);
    if (end == std::string_view::npos) return true;
    bytes.remove_prefix(end + 1);
    if (line_.ends_with('\r')) line_.pop_back();
    const std::string line = std::exchange(line_, {});
    if (!take_line(line)) return false;
  }
  return true;
}

bool EventStream::take_line(std::string_view line) {
  if (line.empty()) {
    const bool goes_on = !has_data_ || on_event_(event_);
    event_.name.clear();
    event_.data.clear();
    has_data_ = false;
    return goes_on;
  }
  const std::size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "id") event_.id = value;
  if (field == "event") event_.name = value;
  if (field == "data") {
    if (std::exchange(has_data_, true)) event_.data += '\n';
    event_.data += value;
  }
  return true;
}

}  // namespace kron::cli
