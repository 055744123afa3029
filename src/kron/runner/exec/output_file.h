#pragma once

#include <cstddef>
#include <cstdint>

#include "kron/runner/exec/run_directory.h"

namespace kron::exec {

// The run's `output`: what the command wrote, at most `most` bytes of it. When that many are there, the newest half is
// copied to a new file, behind a line that says how much was cut, and takes the old one's place; so the file is whole
// at every moment, never holds more than `most` bytes and that line, and its end is always the newest. Made when the
// first byte comes.
class OutputFile {
 public:
  // `directory` outlives this.
  OutputFile(RunDirectory& directory, std::uint64_t most);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void append(const char* bytes, std::size_t size);

  std::uint64_t written() const { return written_; }       // by the command
  std::uint64_t lost() const { return written_ - kept_; }  // of these, cut or never kept

  bool ends_a_line() const { return written_ == 0 || last_ == '\n'; }

  // Why nothing more is kept, an errno; 0: all is well.
  int error() const { return error_; }

 private:
  std::size_t store(const char* bytes, std::size_t size);
  bool start_over();
  bool copy_newest(int from, int to);
  std::size_t give_up();

  RunDirectory& directory_;
  std::uint64_t most_;
  int fd_ = -1;
  std::uint64_t mark_ = 0;  // bytes of the line that marks the cut
  std::uint64_t kept_ = 0;  // of the command's bytes
  std::uint64_t cut_ = 0;
  std::uint64_t written_ = 0;
  char last_ = 0;  // of the bytes written
  int error_ = 0;
};

}  // namespace kron::exec
