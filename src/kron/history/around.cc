#include "kron/history/around.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace kron::history {
namespace {

class Gathering {
 public:
  Gathering(Index& index, const Around& around) : index_(index), around_(around) {}

  Result<std::vector<Entry>> run() && {
    if (around_.period) find_period(*around_.period);
    std::vector<Instant> times;
    if (around_.at) times.push_back(*around_.at);
    for (const Entry& entry : found_) {
      if (kind_of(entry) != Kind::executed) times.push_back(entry.ended_at.value_or(time_of(entry)));
    }
    for (const Instant t : times) {
      find({.kind = Kind::executed, .to = t + Seconds(1), .limit = kMostRunsAround, .order = Query::Order::time});
    }
    if (around_.last_run) find({.kind = Kind::executed, .limit = 1});
    if (failed_) return fail(*failed_);
    std::ranges::sort(found_, {}, &Entry::number);
    const auto doubles = std::ranges::unique(found_, {}, &Entry::number);
    found_.erase(doubles.begin(), doubles.end());
    return std::move(found_);
  }

 private:
  void find_period(Instant period) {
    find({.from = around_.from, .to = around_.to, .period = period});
    // It may have been started much later; then all of the job's entries are read.
    if (found_.empty()) find({.period = period});
    if (found_.empty()) find({.kind = Kind::passed_over, .from = period, .limit = kMostReportsAround});
  }

  void find(Query query) {
    if (failed_) return;
    query.job = around_.job;
    Result<std::vector<Entry>> found = index_.find(query);
    if (!found) {
      failed_ = found.error();
      return;
    }
    std::ranges::move(*found, std::back_inserter(found_));
  }

  Index& index_;
  const Around& around_;
  std::vector<Entry> found_;
  std::optional<Error> failed_;
};

}  // namespace

Result<std::vector<Entry>> entries_around(Index& index, const Around& around) { return Gathering(index, around).run(); }

}  // namespace kron::history
