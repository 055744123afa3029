#include "kron/kube/lines.h"

namespace kron::kube {

Status LineReader::feed(std::string_view bytes, const std::function<void(std::string_view line)>& visit) {
  const auto too_long = [&] {
    is_broken_ = true;
    begun_ = {};
    return fail(Code::invalid, "the API server sent a line of more than " + std::to_string(most_) + " bytes");
  };
  if (is_broken_) return too_long();
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    if (begun_.size() + part.size() > most_) return too_long();
    if (end == std::string_view::npos) {
      begun_ += part;
      return {};
    }
    bytes.remove_prefix(end + 1);
    if (begun_.empty()) {  // most lines come whole, and are not copied
      if (!part.empty()) visit(part);
      continue;
    }
    begun_ += part;
    const std::string line = std::move(begun_);
    begun_.clear();
    visit(line);
  }
  return {};
}

}  // namespace kron::kube
