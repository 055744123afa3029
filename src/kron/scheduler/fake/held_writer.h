#pragma once

#include <utility>

#include "kron/scheduler/batch_writer.h"

namespace kron::testing {

// A writer whose disk is as slow as a test wants it: what is begun is done when the test says so, or when the scheduler
// waits for it. One thread.
class HeldWriter : public BatchWriter {
 public:
  void begin(Work work) override {
    finish();
    work_ = std::move(work);
    if (!holds) finish();
  }
  void finish() override {
    if (const Work work = std::exchange(work_, nullptr)) work();
  }

  // The daemon dies before it is written.
  void drop() { work_ = nullptr; }
  [[nodiscard]] bool has_work() const { return work_ != nullptr; }

  bool holds = true;  // false: a disk that takes no time

 private:
  Work work_;
};

}  // namespace kron::testing
