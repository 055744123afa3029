#include "kron/api/event_hub.h"

#include <algorithm>

namespace kron::api {

void EventHub::publish(std::string_view event, std::string_view json) {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t id = next_++;
  std::string text = "id: " + std::to_string(id) + "\nevent: ";
  text.append(event).append("\ndata: ").append(json).append("\n\n");
  send_to_all(text);
  kept_bytes_ += text.size();
  kept_.push_back({id, std::move(text)});
  while (kept_bytes_ > most_kept_) {
    kept_bytes_ -= kept_.front().text.size();
    kept_.pop_front();
  }
}

void EventHub::subscribe(std::shared_ptr<http::Stream> stream, std::optional<std::uint64_t> after) {
  const std::scoped_lock lock(mutex_);
  // An id of an earlier daemon, or one so old that its successors are gone; an id nobody gave is from now on.
  const std::uint64_t oldest = kept_.empty() ? next_ : kept_.front().id;
  std::string text = ": krond\n\n";
  if (after && *after + 1 < oldest) text += "event: gap\ndata: {\"event\":\"gap\"}\n\n";
  if (after) {
    const auto first = std::ranges::upper_bound(kept_, *after, {}, &Event::id);
    for (auto event = first; event != kept_.end(); ++event) text += event->text;
  }
  if (stream->write(std::move(text))) streams_.push_back(std::move(stream));
}

void EventHub::leave(const std::shared_ptr<http::Stream>& stream) {
  const std::scoped_lock lock(mutex_);
  std::erase(streams_, stream);
}

std::size_t EventHub::streams() const {
  const std::scoped_lock lock(mutex_);
  return streams_.size();
}

void EventHub::end() {
  const std::scoped_lock lock(mutex_);
  for (const auto& stream : streams_) stream->end();
  streams_.clear();
}

void EventHub::send_to_all(const std::string& text) {
  std::erase_if(streams_, [&](const auto& stream) { return !stream->write(text); });
}

}  // namespace kron::api
