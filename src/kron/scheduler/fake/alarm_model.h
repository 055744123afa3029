#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kron/ledger/ledger.h"

namespace kron::testing {

// What a job's record must say of its alarm, told anew out of the steps that were written, by the words of the contract
// and not by core/alarm.cc.
class AlarmModel {
 public:
  // A message that somebody must be sent, as far as it can be told from others.
  struct Message {
    std::string key;
    std::vector<std::string> to;

    bool operator==(const Message&) const = default;
  };

  // Returns what is owed since.
  std::vector<Message> take(const LedgerStep& step);

  [[nodiscard]] bool is_told_by(const std::optional<Alarm>& alarm) const;
  [[nodiscard]] const std::vector<Message>& owed() const { return owed_; }

 private:
  void go_bad(const AlarmTerms& terms, AlarmKind kind, Instant period, Instant at);
  void go_well(const AlarmTerms& terms, Instant period);
  void forget();  // but what is owed
  void owe(const AlarmTerms& terms, AlarmKind kind, Instant period, std::uint32_t number);

  std::uint32_t bad_ = 0;         // periods in a row
  std::optional<Instant> first_;  // of these …
  std::optional<Instant> last_;   // … and the last, which counts once
  bool is_open_ = false;          // somebody was told
  std::uint32_t times_ = 0;       // how often
  Instant told_at_ = {};          // and when last
  std::vector<Message> owed_;     // what nobody knows to be in the queue
};

}  // namespace kron::testing
