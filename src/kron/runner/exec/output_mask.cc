#include "kron/runner/exec/output_mask.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "kron/runner/protocol.h"

namespace kron::exec {
namespace {

constexpr std::size_t kPieces = 64 << 10;  // what is taken at once beside what was kept back
constexpr std::size_t kKept = kPieces + kMostSecretFile;

static_assert(kLeastMasked == sizeof(std::uint32_t), "a value is found by so many bytes");

// Not by substr(), whose exception would bring half of a library into kron-exec.
std::string_view without_blanks(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r";
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  line.remove_suffix(line.size() - (line.find_last_not_of(kBlanks) + 1));
  return line;
}

}  // namespace

MaskedValues::~MaskedValues() {
  std::free(values_);
  std::free(lengths_);
  std::free(heads_);
}

bool MaskedValues::add_lines_of(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = without_blanks({text.data(), end});
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.size() < kLeastMasked) continue;
    if (count_ == kMostMasked) return false;
    if (values_ == nullptr) values_ = static_cast<std::string_view*>(std::calloc(kMostMasked, sizeof *values_));
    if (heads_ == nullptr) heads_ = static_cast<std::uint8_t*>(std::calloc(kHeads / 8, 1));
    if (values_ == nullptr || heads_ == nullptr) return false;
    values_[count_++] = line;
    longest_ = std::max(longest_, line.size());
  }
  return true;
}

bool MaskedValues::finish() {
  if (count_ == 0) return true;
  std::sort(values_, values_ + count_);
  lengths_ = static_cast<std::size_t*>(std::calloc(count_, sizeof *lengths_));
  if (lengths_ == nullptr) return false;
  for (std::size_t i = 0; i < count_; ++i) lengths_[i] = values_[i].size();
  std::sort(lengths_, lengths_ + count_);
  length_count_ = static_cast<std::size_t>(std::unique(lengths_, lengths_ + count_) - lengths_);
  for (std::size_t i = 0; i < count_; ++i) {
    const std::size_t slot = slot_of(head_of(values_[i].data()));
    heads_[slot / 8] = static_cast<std::uint8_t>(heads_[slot / 8] | 1U << slot % 8);
  }
  return true;
}

std::uint32_t MaskedValues::head_of(const char* bytes) {
  std::uint32_t head = 0;
  std::memcpy(&head, bytes, sizeof head);
  return head;
}

// By binary search, once for each length that values have: however many begin alike, none is compared with all of them.
// What continues the text is greater than it, and smaller than whatever else is.
MaskedValues::Match MaskedValues::match(std::string_view text) const {
  Match found;
  const std::string_view* const begin = values_;
  const std::string_view* const end = begin + count_;
  if (text.size() >= kLeastMasked) {
    const std::size_t slot = slot_of(head_of(text.data()));
    if ((heads_[slot / 8] & 1U << slot % 8) == 0) return found;
  }
  for (std::size_t i = 0; i < length_count_ && lengths_[i] <= text.size(); ++i) {
    if (std::binary_search(begin, end, std::string_view(text.data(), lengths_[i]))) found.size = lengths_[i];
  }
  const std::string_view* const next = std::upper_bound(begin, end, text);
  found.may_be_more = next != end && next->starts_with(text);
  return found;
}

OutputMask::~OutputMask() {
  if (kept_ != nullptr) ::explicit_bzero(kept_, kKept);
  std::free(kept_);
}

void OutputMask::append(const MaskedValues& values, const char* bytes, std::size_t size, Take take, void* context) {
  if (kept_ == nullptr) kept_ = static_cast<char*>(std::malloc(kKept));
  // Rather no output than what was to be hidden.
  if (kept_ == nullptr) return;
  while (size > 0) {
    const std::size_t part = std::min(size, kPieces);
    std::memcpy(kept_ + used_, bytes, part);
    used_ += part;
    bytes += part;
    size -= part;
    work(values, false, take, context);
  }
}

void OutputMask::finish(const MaskedValues& values, Take take, void* context) {
  if (used_ > 0) work(values, true, take, context);
}

void OutputMask::work(const MaskedValues& values, bool is_end, Take take, void* context) {
  constexpr std::size_t kMaskSize = sizeof runner::kMasked - 1;
  std::size_t stored = 0;
  std::size_t at = 0;
  while (at < used_) {
    const MaskedValues::Match match = values.match({kept_ + at, used_ - at});
    if (match.may_be_more && !is_end) break;
    if (match.size == 0) {
      ++at;
      continue;
    }
    if (at > stored) take(context, kept_ + stored, at - stored);
    take(context, runner::kMasked, kMaskSize);
    at += match.size;
    stored = at;
  }
  if (at > stored) take(context, kept_ + stored, at - stored);
  used_ -= at;
  std::memmove(kept_, kept_ + at, used_);
}

}  // namespace kron::exec
