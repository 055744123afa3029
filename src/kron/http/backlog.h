#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

namespace kron::http {

// What was written to a Stream and has not reached the client. Written from any thread, sent from the server's.
class Backlog {
 public:
  // `wake` is called, from any thread and with nothing locked, when there is something to do for the sender.
  Backlog(std::size_t limit, std::function<void()> wake) : limit_(limit), wake_(std::move(wake)) {}

  // As those of Stream.
  bool write(std::string bytes);
  void end();
  void cut();
  void counts_as_whole();
  void on_drained(std::function<void()> call);

  bool is_cut();     // the connection is to be closed, even in the midst of sending
  bool has_ended();  // nothing comes behind what waits

  struct Batch {
    std::string bytes;
    bool is_last = false;  // nothing comes behind it
  };
  // What is to be sent now. Until sent() it still counts as waiting.
  Batch take();
  void sent();

  // Nothing is written any more, though nobody said that it is complete.
  void server_ends();

  // Nobody reads any more.
  void close();

 private:
  enum class Wake : std::uint8_t { unless_woken, always };
  void cut(std::unique_lock<std::mutex> lock);
  void wake(std::unique_lock<std::mutex> lock, Wake when);

  const std::size_t limit_;
  const std::function<void()> wake_;
  std::mutex mutex_;
  std::string waiting_;
  std::size_t in_flight_ = 0;
  bool woken_ = false;
  bool ended_ = false;
  bool closed_ = false;
  bool cut_ = false;
  bool counts_as_whole_ = false;
  std::function<void()> on_drained_;
};

}  // namespace kron::http
