#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "kron/env/descriptor.h"
#include "kron/runner/run_files.h"

struct gzFile_s;

namespace kron::runner {

inline constexpr std::size_t kMostOutputRead = 1 << 20;

// The captured output of one run, plain or compressed. Used by one thread.
class OutputReader {
 public:
  // Invalid: no run id. Not found: there is no such run, or it has written nothing (yet).
  static Result<OutputReader> open(const RunFiles& files, std::string_view run_id);

  // Of a run that goes on: so far.
  Result<std::uint64_t> size() const;

  // At most kMostOutputRead bytes; fewer than `length` near the end, and none at or beyond it. Compressed output is
  // cheapest to read from its start to its end.
  Result<std::string> read(std::uint64_t offset, std::size_t length);

  // False once the run has put another file in the place of this one, to keep the newest of too much output: open it
  // anew.
  bool is_current() const;

 private:
  struct CloseGz {
    void operator()(gzFile_s* file) const;
  };

  OutputReader(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}

  Status open_compressed();

  std::string path_;
  Descriptor file_;
  std::unique_ptr<gzFile_s, CloseGz> compressed_;  // null: plain
  std::uint64_t compressed_size_ = 0;
};

}  // namespace kron::runner
