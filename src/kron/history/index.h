#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kron/history/database.h"
#include "kron/history/day_totals.h"
#include "kron/history/entry.h"
#include "kron/history/journal.h"
#include "kron/history/recent.h"

namespace kron::history {

// Starts per part of a time that is divided evenly.
struct StartsQuery {
  Instant from;
  Seconds length;
  std::size_t parts = 1;
  Instant until;            // not counted from here on
  std::string prefix = {};  // of the jobs' names
  std::string match = {};   // in the jobs' names
};

// What is asked for; everything that is given must hold. The newest come first.
struct Query {
  // What makes an entry newer than another. What a krond finds missed after hours away arrives late.
  enum class Order : std::uint8_t {
    number,  // it arrived later
    time,    // time_of(entry) is later; of equal times, the one that arrived later
  };
  std::string job = {};         // empty: any
  std::string job_prefix = {};  // empty: any
  std::string run_prefix = {};  // of the run id; empty: any
  std::optional<Kind> kind = {};
  std::optional<RunResult> result = {};
  std::optional<Instant> from = {};    // time_of(entry) at or after it …
  std::optional<Instant> to = {};      // … and before it
  std::optional<Instant> period = {};  // of this one; give `from` and `to`, too, or all of a job's entries are read
  std::int64_t before = 0;             // a cursor: only what comes after the entry of this number; 0: all
  std::size_t limit = 100;
  Order order = Order::number;
};

// How far days.jsonl is known.
struct DaysKnown {
  std::uint64_t size = 0;
  std::size_t lines = 0;
};

struct Ends {
  std::optional<Entry> last = {};
  std::optional<Entry> success = {};
};

// The journal's entries, to be asked. It can be made from the journal at any time, so nothing of it is precious: what
// it does not know of a file, it is told by reading on from size_of() of that file. Used by one thread.
class Index {
 public:
  // Opens or makes it. Code invalid: damaged, or of another version; discard() it.
  static Result<std::unique_ptr<Index>> open(const std::string& path);
  static void discard(const std::string& path);

  // What is told between the two is there as a whole, or not at all.
  Status begin();
  Status commit();
  Status rollback();

  // What one line of the journal says; the later line about the same entry holds.
  Status put(const Entry& entry, const Segment& segment);
  Result<std::optional<Entry>> with_key(std::string_view key);

  // How far each file of the journal is known.
  Result<std::uint64_t> size_of(const Segment& segment);
  Status set_size(const Segment& segment, std::uint64_t size);

  // Forgets all but the `most` with the highest numbers, and says how many went.
  Result<std::size_t> keep_newest(std::size_t most);
  // Forgets entries whose last line is in a file of an earlier day.
  Status forget_before(std::chrono::sys_days day);
  // Forgets the files that hold the last line of no entry, and names them.
  Result<std::vector<Segment>> take_unused(const Segment& in_use);

  Result<std::vector<Entry>> find(const Query& query);
  // The newest run or outcome of each of these jobs that has one; a report of periods passed over is neither.
  Result<std::map<std::string, Entry>> last_of(const std::vector<std::string>& jobs);

  // The newest entries of each of these jobs that has one, at most `each` of a job, the newest first.
  Result<std::map<std::string, std::vector<Entry>>> newest_of(const std::vector<std::string>& jobs, std::size_t each);
  // Every entry of a job, or, without a name, of all jobs: job by job, and of each in the order of the numbers.
  Status each_brief(std::string_view job, const std::function<void(const Brief&)>& visit);
  // How the newest run or period of each of these jobs ended, and its newest success, of those that have one. A run
  // that goes on has not ended.
  Result<std::map<std::string, Ends>> ends_of(const std::vector<std::string>& jobs);

  // How many runs began in each part; by an index alone.
  Result<std::vector<std::uint64_t>> count_starts(const StartsQuery& query);

  // The totals of each job and day, which outlive the entries. In a transaction with the entry's put(): `before` is
  // what was known of it. Nothing is counted that put_day() has told already, until end_of_reading().
  Status count_day(const std::optional<Entry>& before, const Entry& after);
  // Of the days from `from` up to but without `to`, those with any, in their order.
  Result<std::vector<DayTotals>> days_of(const std::string& job, std::chrono::sys_days from, std::chrono::sys_days to);
  // Of days.jsonl: what is to be written, and was; a line that was read; how far it is known.
  Result<std::vector<DayTotals>> unwritten_days(std::chrono::sys_days before, std::size_t most);
  Status mark_written(const std::vector<DayTotals>& totals);
  Status put_day(const DayTotals& totals);  // what was counted holds; a later line takes the place of an earlier one
  Status end_of_reading();
  Status each_written_day(const std::function<void(const DayTotals&)>& visit);
  Result<DaysKnown> days_known();
  Status set_days_known(const DaysKnown& known);
  // Forgets the days before `from`, and of more than `most` lines the oldest; how many are left.
  Result<std::size_t> keep_days(std::chrono::sys_days from, std::size_t most);

  // Lines put out of order, or in place of others, make count() wrong until this.
  Status recount();
  std::int64_t last_number() const { return last_number_; }
  std::size_t count() const { return count_; }
  Result<std::optional<Instant>> time_of_oldest();

 private:
  Result<std::map<std::string, Ends>> ends_of_each(const std::vector<std::string>& jobs);
  explicit Index(Database database);

  Status check(bool is_new);
  Result<std::optional<std::int64_t>> time_at(std::int64_t number);
  Result<std::map<std::string, Entry>> last_of_each(const std::vector<std::string>& jobs);
  Result<std::map<std::string, std::vector<Entry>>> newest_of_each(const std::vector<std::string>& jobs,
                                                                   std::size_t each);

  Status change_day(const std::string& job, std::chrono::sys_days day, const Entry* before, const Entry* after);
  static Statement statement_of_day_at(Database& database);
  static Statement statement_of_put_day(Database& database);

  Database database_;
  Statement put_;
  Statement with_key_;
  Statement day_at_;
  Statement put_day_;
  std::int64_t last_number_ = 0;
  std::size_t count_ = 0;
};

}  // namespace kron::history
