#include "kron/api/operations.h"

namespace kron::api {

Operations completed(Operations operations, Scheduler& scheduler) {
  if (!operations.pause) {
    operations.pause = [&scheduler](const std::string& job, const Operations::Pause& pause, const Attribution& from,
                                    const Operations::Done& done) {
      scheduler.suspend(job, pause.until, pause.skip_missed, done, from);
    };
  }
  if (!operations.resume) {
    operations.resume = [&scheduler](const std::string& job, bool skip_missed, const Attribution& from,
                                     const Operations::Done& done) { scheduler.resume(job, skip_missed, done, from); };
  }
  if (!operations.trigger) {
    operations.trigger = [&scheduler](const std::string& job, const std::string& key, const Attribution& from,
                                      const Operations::Started& started) {
      scheduler.trigger(job, key, started, from);
    };
  }
  if (!operations.terminate) {
    operations.terminate = [&scheduler](const std::string& run_id, const Attribution& from,
                                        const Operations::Done& done) { done(scheduler.terminate(run_id, from)); };
  }
  if (!operations.kill) {
    operations.kill = [&scheduler](const std::string& run_id, const Attribution& from, const Operations::Done& done) {
      done(scheduler.kill(run_id, from));
    };
  }
  return operations;
}

}  // namespace kron::api
