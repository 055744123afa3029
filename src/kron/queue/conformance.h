#pragma once

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <utility>

#include "kron/queue/queue_rig.h"

// What every queue must do: one suite for all of them, conformance_test.cc. A program that compiles it says on which
// queues it runs: INSTANTIATE_TEST_SUITE_P(…, TaskQueueContract, …).
namespace kron::testing {

struct QueueBackend {
  std::string name;
  std::unique_ptr<QueueRig> (*make)(QueueOptions options);
  bool (*is_there)() = nullptr;  // what it needs; none: nothing
};

class TaskQueueContract : public ::testing::TestWithParam<QueueBackend> {
 protected:
  void SetUp() override {
    if (GetParam().is_there != nullptr && !GetParam().is_there()) {
      GTEST_SKIP() << "no Redis here; scripts/deps test installs it";
    }
  }
  void use(QueueOptions options) { rig_ = GetParam().make(std::move(options)); }
  QueueRig& rig() {
    if (!rig_) use({});
    return *rig_;
  }
  TaskQueue& queue() { return rig().queue(); }
  void wait(Seconds time) { rig().clock.advance(time); }

 private:
  std::unique_ptr<QueueRig> rig_;
};

template <class Rig>
std::unique_ptr<QueueRig> make_rig(QueueOptions options) {
  return std::make_unique<Rig>(std::move(options));
}

inline std::string backend_name(const ::testing::TestParamInfo<QueueBackend>& backend) { return backend.param.name; }

}  // namespace kron::testing
