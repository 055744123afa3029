#include "kron/api/event_hub.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kron/api/brief_event.h"

namespace kron::api {
namespace {

std::string gap(std::string_view reason) {
  return "event: gap\ndata: {\"event\":\"gap\",\"reason\":\"" + std::string(reason) + "\"}\n\n";
}

}  // namespace

void EventHub::deliver_by(Post post) {
  const std::scoped_lock lock(mutex_);
  post_ = std::move(post);
}

void EventHub::publish(std::string_view event, std::string_view json) {
  Post post;
  {
    const std::scoped_lock lock(mutex_);
    const std::uint64_t id = next_++;
    std::string text = "id: " + std::to_string(id) + "\nevent: ";
    text.append(event).append("\ndata: ").append(json).append("\n\n");
    kept_bytes_ += text.size();
    kept_.push_back({id, std::move(text)});
    while (kept_bytes_ > most_kept_) {
      kept_bytes_ -= kept_.front().text.size();
      kept_.pop_front();
    }
    if (readers_.empty() || std::exchange(is_posted_, true)) return;
    post = post_;
  }
  post([this] { deliver(); });
}

void EventHub::deliver() {
  struct Parcel {
    std::shared_ptr<http::Stream> stream;
    std::shared_ptr<const std::string> text;
  };
  std::vector<Parcel> parcels;
  {
    const std::scoped_lock lock(mutex_);
    is_posted_ = false;
    // Nearly all readers get the same.
    struct Same {
      std::optional<std::uint64_t> after;
      std::shared_ptr<const std::string> text;
    };
    std::array<Same, 2> same;  // of each form
    for (Reader& reader : readers_) {
      Same& made = same[reader.form == Form::full ? 0 : 1];
      if (made.after != reader.last) {
        made = {reader.last, std::make_shared<const std::string>(text_after(reader.last, reader.form))};
      }
      reader.last = next_ - 1;
      if (!made.text->empty()) parcels.push_back({reader.stream, made.text});
    }
  }
  for (const Parcel& parcel : parcels) {
    if (!parcel.stream->write(*parcel.text)) leave(parcel.stream);
  }
}

// Everything behind this id, with an event `gap` for what is missing.
std::string EventHub::text_after(std::uint64_t id, Form form) const {
  std::string text;
  const std::uint64_t oldest = kept_.empty() ? next_ : kept_.front().id;
  // An id that we have not given yet is of a daemon whose clock was ahead of ours.
  const bool is_of_another = (id != 0 && id < first_ - 1) || id >= next_;
  if (is_of_another || id == 0) id = first_ - 1;
  if (id < oldest - 1) {
    text = gap("dropped");
  } else if (is_of_another) {
    text = gap("restarted");
  }
  const auto first = std::ranges::upper_bound(kept_, id, {}, &Event::id);
  for (auto event = first; event != kept_.end(); ++event) {
    text += form == Form::full ? event->text : brief_event_text(event->text);
  }
  return text;
}

void EventHub::subscribe(const std::shared_ptr<http::Stream>& stream, std::optional<std::uint64_t> after, Form form) {
  std::string text;
  {
    const std::scoped_lock lock(mutex_);
    if (after) text = text_after(*after, form);
    readers_.push_back({stream, next_ - 1, form});
  }
  text += ": krond\n\n";
  if (!stream->write(std::move(text))) leave(stream);
}

std::string EventHub::kept_text() const {
  const std::scoped_lock lock(mutex_);
  return text_after(0, Form::full);
}

void EventHub::leave(const std::shared_ptr<http::Stream>& stream) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(readers_, [&](const Reader& reader) { return reader.stream == stream; });
}

void EventHub::beat() {
  Post post;
  {
    const std::scoped_lock lock(mutex_);
    if (readers_.empty()) return;
    post = post_;
  }
  post([this] { send_beat(); });
}

void EventHub::send_beat() {
  std::vector<Reader> readers;
  {
    const std::scoped_lock lock(mutex_);
    readers = readers_;
  }
  for (const Reader& reader : readers) {
    if (!reader.stream->write(":\n\n")) leave(reader.stream);
  }
}

std::uint64_t EventHub::last_id() const {
  const std::scoped_lock lock(mutex_);
  return next_ - 1;
}

std::size_t EventHub::streams() const {
  const std::scoped_lock lock(mutex_);
  return readers_.size();
}

void EventHub::end() {
  Post post;
  {
    const std::scoped_lock lock(mutex_);
    post = post_;
  }
  post([this] {
    deliver();
    end_streams();
  });
}

void EventHub::end_streams() {
  std::vector<Reader> readers;
  {
    const std::scoped_lock lock(mutex_);
    readers.swap(readers_);
  }
  for (const Reader& reader : readers) reader.stream->end();
}

}  // namespace kron::api
