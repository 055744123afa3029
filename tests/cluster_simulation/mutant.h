#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kron/cluster/scripts.h"
#include "kron/env/redis_connection.h"
#include "kron/ledger/ledger.h"

namespace kron::testing {

// Ways to break a cluster, to see that its tests notice.
enum class Mutant : std::uint8_t {
  none,
  no_revision_check,             // a step is taken whatever the record says by now
  gate_before_answer,            // runs go before their claim is answered
  unknown_without_end,           // a claim whose answer was lost is left as it is
  outcomes_while_paused,         // only starts are refused while a job is paused
  anew_with_first_revision,      // records are made with revision 1, and not with the microsecond in which they are
  put_back_with_first_revision,  // likewise when they were lost and are put back
  revisions_count_steps,         // each step adds 1, so that after lost writes another comes to the same revision
  first_sight_at_once,           // a new record counts what is due in the second in which it is made
  ran_is_refused,                // a run that has been is not taken for the period's
  no_lock_check,                 // a lock is taken whoever has it
  raised_by_the_seen,            // after writes were lost the counter of tokens jumps from what one host has seen
  starts_unsettled,              // after writes were lost nobody waits for what the others know
};

// Replaces parts of scripts and of commands on their way to Redis.
class MutatingConnection : public RedisConnection {
 public:
  MutatingConnection(std::unique_ptr<RedisConnection> connection, Mutant mutant)
      : connection_(std::move(connection)), mutant_(mutant) {}

  Status connect(Nanoseconds timeout) override { return connection_->connect(timeout); }
  [[nodiscard]] bool is_connected() const override { return connection_->is_connected(); }
  void close() override { connection_->close(); }

  std::vector<RedisReply> call(std::span<const RedisCommand> commands, Nanoseconds timeout) override {
    if (mutant_ == Mutant::none) return connection_->call(commands, timeout);
    std::vector<RedisCommand> changed;
    for (const RedisCommand& command : commands) changed.push_back(change(command));
    return connection_->call(changed, timeout);
  }

 private:
  RedisCommand change(RedisCommand command) const {
    if (command[0] != "EVALSHA") return command;
    const cluster::Script* script = nullptr;
    for (const cluster::Script& one : cluster::all_scripts()) {
      if (one.sha == command[1]) script = &one;
    }
    std::string text(script->text);
    const auto replace = [&](std::string_view from, std::string_view to) {
      const std::size_t at = text.find(from);
      if (at == std::string::npos) std::abort();  // the script is another one by now, and so must this be
      text.replace(at, from.size(), to);
    };
    const bool is_step = script->name == "step";
    switch (mutant_) {
      case Mutant::no_revision_check:
        if (!is_step) return command;
        replace("if revision ~= ARGV[3] then", "if false then");
        break;
      case Mutant::outcomes_while_paused:
        if (!is_step) return command;
        replace("if ARGV[8] ~= ''", "if n > 0 and ARGV[8] ~= ''");
        break;
      case Mutant::anew_with_first_revision:
        if (script->name != "make") return command;
        replace(kMicrosecond, "'1'");
        break;
      case Mutant::put_back_with_first_revision:
        if (script->name != "restore") return command;
        replace("next = string.format('%.0f', next)", "next = record and string.format('%.0f', next) or '1'");
        break;
      case Mutant::revisions_count_steps:
        if (!is_step) return command;
        replace("tonumber(t[1]) * 1000000 + tonumber(t[2])\n  if next <=", "0\n  if next <=");
        break;
      case Mutant::no_lock_check:
        if (!is_step) return command;
        replace("if held and not", "if false and not");
        break;
      case Mutant::first_sight_at_once:
        if (script->name != "make") return command;
        replace("tonumber(t[1]) + 1", "tonumber(t[1])");
        command[6] = earlier(command[6], command[7]);
        break;
      case Mutant::raised_by_the_seen:
        if (script->name != "raise") return command;
        replace("tonumber(t[1]) * 1000000 + tonumber(t[2])", "0");
        break;
      case Mutant::unknown_without_end:
        if (script->name != "end" || !is_never_ran(command)) return command;
        return {"PING"};
      case Mutant::none:
      case Mutant::gate_before_answer:
      case Mutant::ran_is_refused:
      case Mutant::starts_unsettled:
        return command;
    }
    command[0] = "EVAL";
    command[1] = text;
    return command;
  }

  static constexpr std::string_view kMicrosecond = "string.format('%.0f', tonumber(t[1]) * 1000000 + tonumber(t[2]))";

  static bool is_never_ran(const RedisCommand& command) {
    for (const std::string& part : command) {
      if (part.find("nothing was run") != std::string::npos) return true;
    }
    return false;
  }

  // The record with its first sight a second sooner.
  static std::string earlier(std::string record, std::string& first_seen);

  std::unique_ptr<RedisConnection> connection_;
  Mutant mutant_;
};

// Passes everything on, and mistakes one answer.
class MistakenLedger : public Ledger {
 public:
  MistakenLedger(Ledger& ledger, Mutant mutant) : ledger_(ledger), mutant_(mutant) {}

  Result<std::vector<KnownJob>> load(std::span<const std::string> identities, Instant now) override {
    return ledger_.load(identities, now);
  }
  Result<KnownJob> reset(std::string_view identity, Instant now, std::string_view boot_id) override {
    return ledger_.reset(identity, now, boot_id);
  }
  Result<bool> has_run(std::string_view identity, std::string_view run_id) override {
    return ledger_.has_run(identity, run_id);
  }
  std::vector<Written> write(std::span<const LedgerStep> steps) override {
    std::vector<Written> answers = ledger_.write(steps);
    for (Written& answer : answers) {
      if (mutant_ == Mutant::ran_is_refused && answer.how == Written::How::ran) {
        answer = Written::refused({Code::conflict, "mutant"});
      }
    }
    return answers;
  }
  const std::optional<Error>& broken() const override { return ledger_.broken(); }

 private:
  Ledger& ledger_;
  Mutant mutant_;
};

}  // namespace kron::testing
