#pragma once

#include <functional>

namespace kron {

// Who writes a batch of records while the loop goes on: one batch at a time.
class BatchWriter {
 public:
  using Work = std::function<void()>;  // throws nothing

  virtual ~BatchWriter() = default;

  // Begins it, or has done it when it returns. What was begun before is finished first.
  virtual void begin(Work work) = 0;
  virtual void finish() = 0;  // returns when nothing is under way; all that it did is visible then
};

}  // namespace kron
