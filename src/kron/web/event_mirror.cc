#include "kron/web/event_mirror.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace kron::web {
namespace {

using Block = EventMirror::Block;
using Kind = EventMirror::Kind;

// What stands behind it in its line; nothing without such a line.
std::optional<std::string_view> field_of(std::string_view text, std::string_view field) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (line.starts_with(field)) return line.substr(field.size());
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::nullopt;
}

// False: this is none.
bool read_block(std::string text, Block& block) {
  block.text = std::move(text);
  if (block.text.starts_with(':')) return true;
  if (block.name() == "gap") {
    block.kind = Kind::gap;
    return true;
  }
  block.kind = Kind::event;
  const std::string_view id = field_of(block.text, "id: ").value_or("");
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), block.id);
  return error == std::errc() && end == id.data() + id.size() && !block.name().empty();
}

std::string gap(std::string_view reason) {
  return "event: gap\ndata: {\"event\":\"gap\",\"reason\":\"" + std::string(reason) + "\"}\n\n";
}

}  // namespace

std::string_view EventMirror::Block::name() const { return field_of(text, "event: ").value_or(""); }

Result<std::vector<Block>> EventMirror::received(std::string_view bytes) {
  constexpr std::string_view kEnd = "\n\n";
  const std::size_t looked = unread_.empty() ? 0 : unread_.size() - 1;
  unread_ += bytes;
  std::vector<Block> blocks;
  std::size_t begun = 0;
  for (std::size_t end = unread_.find(kEnd, looked); end != std::string::npos; end = unread_.find(kEnd, begun)) {
    end += kEnd.size();
    Block& block = blocks.emplace_back();
    if (!read_block(unread_.substr(begun, end - begun), block)) {
      return fail(Code::invalid, "krond sent what is no event");
    }
    if (const Status taken = take(block); !taken) return fail(taken.error());
    begun = end;
  }
  unread_.erase(0, begun);
  if (unread_.size() > kMostBlock) return fail(Code::invalid, "krond sent an event larger than any of its own");
  return blocks;
}

Status EventMirror::take(const Block& block) {
  switch (block.kind) {
    case Kind::comment:
      is_ready_ = true;  // behind what it has, krond greets; later comments tell that it lives
      return {};
    case Kind::gap:
      is_whole_ = false;
      return {};
    case Kind::event:
      break;
  }
  // What comes before the greeting is older than what was new when the stream began.
  const std::uint64_t before = is_ready_ ? last_ : (kept_.empty() ? 0 : kept_.back().id);
  if (block.id <= before) return fail(Code::invalid, "krond sent an event twice");
  keep(block);
  return {};
}

void EventMirror::keep(const Block& block) {
  last_ = std::max(last_, block.id);
  kept_.push_back({block.id, block.text});
  kept_bytes_ += block.text.size();
  while (kept_bytes_ > most_kept_) {
    kept_bytes_ -= kept_.front().text.size();
    kept_.pop_front();
    is_whole_ = false;
  }
}

std::string EventMirror::text_after(std::uint64_t id) const {
  std::string text;
  const std::uint64_t oldest = kept_.empty() ? last_ + 1 : kept_.front().id;
  if (id > last_ || (id != 0 && id < oldest - 1) || (id == 0 && !is_whole_)) {
    // Of an earlier krond, or of one whose clock was ahead; or of this one, and not kept any more.
    text = gap(is_whole_ ? "restarted" : "dropped");
    id = 0;
  }
  const auto first = std::ranges::upper_bound(kept_, id, {}, &Kept::id);
  for (auto event = first; event != kept_.end(); ++event) text += event->text;
  return text;
}

}  // namespace kron::web
