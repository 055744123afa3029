#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace kron::cli {

struct StreamedEvent {
  std::string id, name, data;
};

// Takes a text/event-stream apart as it comes, in whatever pieces. Comments and fields nobody knows are passed over.
class EventStream {
 public:
  // False from `on_event` ends it: nothing more is given.
  explicit EventStream(std::function<bool(const StreamedEvent&)> on_event) : on_event_(std::move(on_event)) {}

  // False when it has ended.
  bool take(std::string_view bytes);

 private:
  bool take_line(std::string_view line);

  std::function<bool(const StreamedEvent&)> on_event_;
  std::string line_;
  StreamedEvent event_;
  bool has_data_ = false;
};

}  // namespace kron::cli
