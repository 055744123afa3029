#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kron/env/descriptor.h"
#include "kron/env/redis_connection.h"
#include "kron/env/redis_url.h"

namespace kron {

// A server on loopback that says what a test has written down, byte for byte: an answer in halves, garbage, nothing.
class ScriptedPeer {
 public:
  // One connection, on the peer's side. Every wait has a limit.
  class Talk {
   public:
    explicit Talk(Descriptor socket);

    // The next command; nothing once the client has closed, or is silent for long.
    std::optional<RedisCommand> command();
    // Takes so many commands and says nothing.
    void take(int commands);
    void say(std::string_view bytes);
    // Takes a command and answers it.
    void answer(std::string_view bytes);
    // What every connection begins with: CLIENT SETNAME, and PING or EXISTS.
    void let_in();
    void wait_until_closed();
    void close();
    void reset();  // as a machine that has forgotten the connection

   private:
    bool read_more();

    Descriptor socket_;
    std::string unread_;
  };
  using Script = std::function<void(Talk&)>;

  // One script for each connection, in order; then nobody is there any more.
  explicit ScriptedPeer(std::vector<Script> scripts);
  explicit ScriptedPeer(Script script) : ScriptedPeer(std::vector<Script>{std::move(script)}) {}
  // Waits for the scripts that have begun; those that have not never will.
  ~ScriptedPeer();

  [[nodiscard]] RedisAddress address() const { return {"127.0.0.1", port_}; }
  [[nodiscard]] RedisUrl url() const { return {.addresses = {address()}}; }

  // Waits until all scripts are through.
  void finish();

 private:
  Descriptor listener_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace kron
