#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/history/database.h"
#include "kron/history/entry.h"
#include "kron/history/journal.h"

namespace kron::history {

// What is asked for; everything that is given must hold. The newest come first.
struct Query {
  // What makes an entry newer than another. What a krond finds missed after hours away arrives late.
  enum class Order : std::uint8_t {
    number,  // it arrived later
    time,    // time_of(entry) is later; of equal times, the one that arrived later
  };
  std::string job = {};         // empty: any
  std::string job_prefix = {};  // empty: any
  std::optional<Kind> kind = {};
  std::optional<RunResult> result = {};
  std::optional<Instant> from = {};    // time_of(entry) at or after it …
  std::optional<Instant> to = {};      // … and before it
  std::optional<Instant> period = {};  // of this one; give `from` and `to`, too, or all of a job's entries are read
  std::int64_t before = 0;             // a cursor: only what comes after the entry of this number; 0: all
  std::size_t limit = 100;
  Order order = Order::number;
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

  // Lines put out of order, or in place of others, make count() wrong until this.
  Status recount();
  std::int64_t last_number() const { return last_number_; }
  std::size_t count() const { return count_; }
  Result<std::optional<Instant>> time_of_oldest();

 private:
  explicit Index(Database database);

  Status check(bool is_new);
  Result<std::optional<std::int64_t>> time_at(std::int64_t number);
  Result<std::map<std::string, Entry>> last_of_each(const std::vector<std::string>& jobs);

  Database database_;
  Statement put_;
  Statement with_key_;
  std::int64_t last_number_ = 0;
  std::size_t count_ = 0;
};

}  // namespace kron::history
