#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>

#include "aside.h"

// Clients that ask a server all the time, and what that costs the server.
namespace kron::bench {

// Of those who ask: what is measured comes first when there is less processor than work.
inline constexpr int kClientNiceness = 10;

struct Question {
  std::string socket;
  std::string target;
  int connections;
  double seconds;
};

struct Answers {
  std::uint64_t good = 0;
  std::uint64_t failed = 0;  // another status than 200, or none
  std::uint64_t bytes = 0;   // of bodies

  void operator+=(const Answers& more) {
    good += more.good;
    failed += more.failed;
    bytes += more.bytes;
  }
};

// Each connection is kept and asks again when it is answered.
Aside<Answers> begin_asking(const Question& question);

struct Cost {
  Answers answers;
  double per_second = 0;
  double cpu_microseconds = 0;  // of the server, each
};

// `server` is the process whose time is counted.
Cost cost_of(const Question& question, pid_t server);

// A server that has nothing to do but to answer with so many bytes, in a process of its own.
class EchoServer {
 public:
  EchoServer(std::string socket, std::size_t body_bytes);

  pid_t pid() const { return process_.pid(); }

 private:
  Aside<bool> process_;
};

}  // namespace kron::bench
