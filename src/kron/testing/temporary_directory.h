#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace kron::testing {

// Where syncs cost nothing; small in containers.
inline std::string memory_directory() { return std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : "/tmp"; }

// A directory of the test's own.
class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(const std::string& below = "/tmp") : path_(below + "/kron-test-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) std::abort();
  }
  // Processes that a test started may still write while we remove it.
  ~TemporaryDirectory() {
    std::error_code error;
    do {
      std::filesystem::remove_all(path_, error);
    } while (error == std::errc::directory_not_empty);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace kron::testing
