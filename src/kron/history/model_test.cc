#include <gtest/gtest.h>
#include <map>
#include <set>

#include "kron/history/fake/history_rig.h"
#include "kron/testing/property.h"

// Random entries, restarts and losses of the index, against a plain list.
namespace kron::history::model_test {
namespace {

class Model {
 public:
  explicit Model(std::size_t most) : most_(most) {}

  void record(const Entry& news) {
    for (Entry& entry : entries_) {
      if (key_of(entry) != key_of(news)) continue;
      entry = merged(entry, news);
      return;
    }
    entries_.push_back(news);
    entries_.back().number = ++last_number_;
  }
  void keep_newest() {
    while (entries_.size() > most_) {
      forgotten_.insert(key_of(entries_.front()));
      entries_.erase(entries_.begin());
    }
  }
  bool has_forgotten(const Entry& entry) const { return forgotten_.contains(key_of(entry)); }

  std::vector<Entry> find(const Query& query) const {
    std::vector<Entry> found;
    for (auto entry = entries_.rbegin(); entry != entries_.rend() && found.size() < query.limit; ++entry) {
      if (matches(*entry, query)) found.push_back(*entry);
    }
    return found;
  }

 private:
  static bool matches(const Entry& entry, const Query& query) {
    return (query.job.empty() || entry.job == query.job) && entry.job.starts_with(query.job_prefix) &&
           (!query.kind || kind_of(entry) == *query.kind) && (!query.result || result_of(entry) == query.result) &&
           (!query.from || time_of(entry) >= *query.from) && (!query.to || time_of(entry) < *query.to) &&
           (query.before == 0 || entry.number < query.before);
  }

  std::size_t most_;
  std::int64_t last_number_ = 0;
  std::vector<Entry> entries_;
  std::set<std::string> forgotten_;
};

int below(int end) { return *rc::gen::inRange(0, end); }

Instant any_time() { return kStart + Seconds(below(20)); }

Entry any_entry() {
  const std::string job = *rc::gen::element<std::string>("a", "ab", "b");
  switch (below(4)) {
    case 0:
      return run_started(job + std::to_string(below(8)), job, any_time());
    case 1:
      return run_ended(job + std::to_string(below(8)), below(2), job, any_time());
    case 2:
      return missed(any_time(), job);
    default:
      return passed_over(any_time(), any_time(), job);
  }
}

Query any_query() {
  Query query;
  if (below(3) == 0) query.job = *rc::gen::element<std::string>("a", "ab", "c");
  if (below(3) == 0) query.job_prefix = *rc::gen::element<std::string>("a", "b");
  if (below(4) == 0) query.kind = *rc::gen::element(Kind::executed, Kind::missed, Kind::passed_over);
  if (below(4) == 0) query.result = *rc::gen::element(RunResult::running, RunResult::succeeded, RunResult::failed);
  if (below(4) == 0) query.from = any_time();
  if (below(4) == 0) query.to = any_time();
  if (below(3) == 0) query.before = below(30);
  query.limit = static_cast<std::size_t>(1 + below(30));
  return query;
}

class ModelTest : public HistoryRig {
 protected:
  void play(Model& model) {
    std::filesystem::remove_all(path());
    open_archive();
    for (int step = *rc::gen::inRange(1, 25); step > 0; --step) {
      switch (below(5)) {
        case 0:
          open_archive();
          break;
        case 1:
          remove_index();
          open_archive();
          break;
        case 2:
          clock_.advance(std::chrono::hours(below(30)));
          break;
        default:
          tell(model);
      }
      const Query query = any_query();
      RC_ASSERT(all(query) == model.find(query));
    }
  }

  void tell(Model& model) {
    std::vector<Entry> group;
    for (int i = below(5); i >= 0; --i) {
      const Entry entry = any_entry();
      // An index that was made anew may remember from the journal what the one before had let go.
      if (!model.has_forgotten(entry)) group.push_back(entry);
    }
    for (const Entry& entry : group) model.record(entry);
    model.keep_newest();
    record(group);
  }
};

TEST_F(ModelTest, AnswersAsAPlainListWould) {
  retention_ = {.age = std::chrono::days(10'000), .most = 12};
  testing::for_all(60, [this] {
    Model model(retention_.most);
    play(model);
  });
}

}  // namespace
}  // namespace kron::history::model_test
