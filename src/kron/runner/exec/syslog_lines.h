#pragma once

#include <cstddef>

namespace kron::exec {

inline constexpr std::size_t kMostLine = 1024;  // a longer line is sent in parts

// Sends a command's output to the system log, a message for each line, tagged with the run. Never waits: what the log
// does not take is dropped, so a stuck logger cannot stop a command.
class SyslogLines {
 public:
  // `priority` is a facility and a severity as in syslog.h.
  void open(const char* path, const char* tag, int priority);
  bool is_open() const { return socket_ >= 0; }

  void append(const char* bytes, std::size_t size);
  void finish();  // sends a last line that has no end

 private:
  void send();

  int socket_ = -1;
  std::size_t head_ = 0;
  std::size_t used_ = 0;
  char line_[kMostLine + 256];
};

}  // namespace kron::exec
