#include "kron/api/operations.h"

namespace kron::api {

Operations completed(Operations operations, Scheduler& scheduler) {
  if (!operations.pause) {
    operations.pause = [&scheduler](const std::string& job, std::optional<Instant> until, bool skip_missed,
                                    const Operations::Done& done) { scheduler.suspend(job, until, skip_missed, done); };
  }
  if (!operations.resume) {
    operations.resume = [&scheduler](const std::string& job, bool skip_missed, const Operations::Done& done) {
      scheduler.resume(job, skip_missed, done);
    };
  }
  if (!operations.trigger) {
    operations.trigger = [&scheduler](const std::string& job, const std::string& key,
                                      const Operations::Started& started) { scheduler.trigger(job, key, started); };
  }
  if (!operations.terminate) {
    operations.terminate = [&scheduler](const std::string& run_id, const Operations::Done& done) {
      done(scheduler.terminate(run_id));
    };
  }
  if (!operations.kill) {
    operations.kill = [&scheduler](const std::string& run_id, const Operations::Done& done) {
      done(scheduler.kill(run_id));
    };
  }
  return operations;
}

}  // namespace kron::api
