#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "kron/api/call.h"
#include "kron/forecast/look_limit.h"
#include "kron/jobs/definition.h"
#include "kron/scheduler/scheduler.h"

namespace kron::api {

struct Parts;

// What was computed of the jobs and the time ahead of them.
struct Forecast {
  virtual ~Forecast() = default;
  // What it takes in memory, roughly.
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};

// One that is told as it is.
struct TextForecast : Forecast {
  explicit TextForecast(std::string told) : text(std::move(told)) {}
  [[nodiscard]] std::size_t bytes() const override { return text.size(); }

  std::string text;
};

// Looks ahead for those who ask: on a thread that does nothing else, so that quick answers do not wait for it; within a
// limit; once for all who ask the same at the same time or in the same minute; and not at all when they have hung up.
class Forecasts {
 public:
  using Definitions = std::vector<jobs::JobDefinition>;
  using Made = Result<std::shared_ptr<const Forecast>>;
  struct Question {
    // What tells it from others: equal keys have equal answers, as long as the jobs and the minute are the same and
    // those who ask have the same right.
    std::string key;
    std::function<bool(std::string_view identity)> has_name = {};  // which jobs it is about; none: all
    // On the loop, of each of these: false leaves it out; none: all are kept.
    std::function<bool(const Scheduler::View& view)> keeps = {};
    Seconds same_for = Call::kUsualSlot;  // whoever asks again within it has the answer (ETag), when nothing happened
    // On the thread for forecasts.
    std::function<Made(const Definitions& definitions, const LookLimit& limit)> compute;
    // Answers one who asked: on that thread, or on the one for quick answers when it was known already.
    std::function<void(const CallPtr& call, const std::shared_ptr<const Forecast>& forecast)> answer;
  };

  static constexpr std::size_t kMostUnderWay = 32;  // different questions
  static constexpr std::size_t kMostKept = 64;
  static constexpr std::size_t kMostBytesKept = std::size_t{16} << 20;
  static constexpr std::size_t kMostBytesOfOne = std::size_t{2} << 20;
  // More than this is asked of `kron simulate`, which has the memory of a process of its own.
  static constexpr std::size_t kMostJobs = 200'000;

  // `parts` outlives it, and so does whoever works for it.
  explicit Forecasts(Parts& parts) : parts_(parts) {}

  // From any thread.
  void ask(const CallPtr& call, Question question);

  // Questions that are computed or wait for it, and what is kept of others. From any thread.
  std::size_t under_way() const;
  std::size_t bytes_kept() const;

  // What is under way ends soon, unanswered. From any thread.
  void stop() { is_stopping_ = true; }

 private:
  struct UnderWay {
    std::string key;
    Question question;
    std::uint64_t generation = 0;
    Definitions definitions = {};
    std::size_t at = 0;                          // how far the jobs are gathered
    std::map<const Call*, CallPtr> askers = {};  // under the mutex
    std::atomic<bool> is_wanted = true;
  };
  using UnderWayPtr = std::shared_ptr<UnderWay>;
  struct Kept {
    std::string key;
    std::shared_ptr<const Forecast> forecast;
  };

  void begin(const CallPtr& call, Question question);
  std::shared_ptr<const Forecast> known(const std::string& key);
  UnderWayPtr join(const CallPtr& call, std::string key, Question question, bool& is_new);
  void leave(const UnderWayPtr& work, const Call* call);
  void gather(const UnderWayPtr& work);
  void compute(const UnderWayPtr& work);
  std::vector<CallPtr> finish(const UnderWayPtr& work);
  void refuse(const UnderWayPtr& work, const Error& error);
  void keep(std::string key, std::shared_ptr<const Forecast> forecast);

  Parts& parts_;
  std::atomic<bool> is_stopping_ = false;
  mutable std::mutex mutex_;  // guards what follows
  std::map<std::string, UnderWayPtr> under_way_;
  std::list<Kept> kept_;  // the one asked for last first
  std::size_t bytes_kept_ = 0;
};

}  // namespace kron::api
