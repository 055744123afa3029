#pragma once

#include <optional>
#include <string>
#include <sys/types.h>

namespace kron::bench {

// Where bcron is: what scripts/deps unpacked, or installed. Nothing: it is not here.
struct BcronPlace {
  std::string programs;   // a directory
  std::string libraries;  // the same; empty: the system's
};
std::optional<BcronPlace> find_bcron(const std::string& unpacked);

// A bcron of its own, with a spool directory and a crontab of its own.
class Bcron {
 public:
  // `spool` exists. Runs the crontab's jobs as the present user.
  Bcron(const BcronPlace& place, const std::string& spool, const std::string& crontab);
  ~Bcron();  // ends it
  Bcron(const Bcron&) = delete;
  Bcron& operator=(const Bcron&) = delete;

 private:
  pid_t pid_ = -1;
};

}  // namespace kron::bench
