#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "kron/base/instant.h"
#include "kron/env/descriptor.h"

namespace kron {

// A descriptor that others may share, written to without ever waiting for its reader. Its flags stay as they are:
// O_NONBLOCK would hold for every process that shares the descriptor, the commands of jobs among them.
class LogOutput {
 public:
  // `descriptor` outlives it.
  explicit LogOutput(int descriptor);

  // How many of the bytes were taken; 0: none for now. Nothing: the descriptor is broken (errno).
  std::optional<std::size_t> write(std::string_view bytes);

  // Waits until something may be taken again, at most so long. False: it took that long.
  bool wait(Nanoseconds longest) const;

 private:
  // How a write is kept from waiting. `plain` is for what takes everything at once, such as a file.
  enum class Kind : std::uint8_t { plain, socket, pipe, polled };

  Kind kind_of_descriptor();
  std::optional<std::size_t> write_by_splice(std::string_view bytes);
  std::optional<std::size_t> write_when_polled(std::string_view bytes);

  int descriptor_;
  Descriptor own_;      // a terminal, opened again
  Descriptor ends_[2];  // a pipe of our own, empty between two calls
  Kind kind_ = Kind::plain;
};

}  // namespace kron
