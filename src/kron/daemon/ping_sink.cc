#include "kron/daemon/ping_sink.h"

#include <variant>

namespace kron::daemon {
namespace {

constexpr const char* kPingStart = "start";
constexpr const char* kPingFail = "fail";
constexpr const char* kPingLog = "log";

// A check takes 0 for success and any other number for failure, so what counts is said in these words: an exit code
// that is fine for the job is 0, and a 0 that is not, or an end by a signal or without a code, is a failure without
// one.
std::string signal_of(const RunExit& exit) {
  if (!exit.code) return kPingFail;
  if (!counts_as_failed(exit.failed, *exit.code)) return "0";
  const bool is_code = exit.signal == 0 && *exit.code > 0 && *exit.code <= 255;
  return is_code ? std::to_string(*exit.code) : kPingFail;
}

std::string text_of_reason(Outcome outcome, Reason reason, const std::string& clause) {
  std::string text(name_of(outcome));
  if (reason != Reason::none) text.append(": ").append(name_of(reason));
  if (!clause.empty()) text.append(" (").append(clause).append(")");
  return text;
}

struct PingOf {
  using Made = std::optional<Ping>;

  Made operator()(const RunStarted& started) const {
    return Ping{.job = started.identity, .url = {}, .signal = kPingStart, .run_id = started.run.run_id};
  }
  Made operator()(const RunEnded& ended) const {
    return Ping{.job = ended.identity,
                .url = {},
                .signal = signal_of(ended.exit),
                .run_id = ended.run.run_id,
                .body = ended.exit.reason,
                .is_end = true};
  }
  // A day that the constraints exclude is planned, and nobody's failure.
  Made operator()(const PeriodEnded& ended) const {
    const bool is_meant = ended.outcome == Outcome::skipped || ended.reason == Reason::excluded;
    return Ping{.job = ended.identity,
                .url = {},
                .signal = is_meant ? kPingLog : kPingFail,
                .body = text_of_reason(ended.outcome, ended.reason, ended.clause)};
  }
  Made operator()(const ManualRunDropped& dropped) const {
    return Ping{.job = dropped.identity,
                .url = {},
                .signal = kPingLog,
                .body = text_of_reason(Outcome::skipped, dropped.reason, {})};
  }
  // The others are no start, no end and no outcome, or one of long ago.
  template <class Other>
  Made operator()(const Other& /*event*/) const {
    return std::nullopt;
  }
};

// By name, of the events that change how many runs go on.
const std::string* begun_in(const Event& event) {
  if (const auto* started = std::get_if<RunStarted>(&event)) return &started->identity;
  const auto* adopted = std::get_if<RunAdopted>(&event);
  return adopted != nullptr ? &adopted->identity : nullptr;
}

}  // namespace

std::optional<Ping> ping_of(const Event& event) { return std::visit(PingOf{}, event); }

void PingSink::take(const Event& event) {
  if (checks_.empty()) return;
  if (const std::string* job = begun_in(event)) {
    if (const auto check = checks_.find(*job); check != checks_.end()) ++check->second.runs;
  }
  std::optional<Ping> ping = ping_of(event);
  if (!ping) return;
  const auto check = checks_.find(ping->job);
  if (check == checks_.end()) return;
  ping->url = check->second.url;
  send_(*std::move(ping));
  if (!std::holds_alternative<RunEnded>(event)) return;
  if (check->second.runs > 0) --check->second.runs;  // it may have begun before there was a check
  release(check);
}

// Forgets one that nobody wants and that has no end to hear of.
void PingSink::release(Checks::iterator check) {
  if (!check->second.is_wanted && check->second.runs == 0) checks_.erase(check);
}

void PingSink::put(const std::vector<jobs::JobDefinition>& some) {
  for (const jobs::JobDefinition& definition : some) {
    const std::string& name = definition.job.identity;
    if (definition.options->ping.empty()) {
      checks_.erase(name);
      continue;
    }
    Check& check = checks_[name];
    check.url = std::shared_ptr<const std::string>(definition.options, &definition.options->ping);
    check.is_wanted = true;
  }
}

void PingSink::replace(const std::vector<jobs::JobDefinition>& all) {
  for (auto& [name, check] : checks_) check.is_wanted = false;
  put(all);
  for (auto check = checks_.begin(); check != checks_.end();) release(check++);
}

void PingSink::drop(std::span<const std::string> names) {
  for (const std::string& name : names) {
    const auto check = checks_.find(name);
    if (check == checks_.end()) continue;
    check->second.is_wanted = false;
    release(check);
  }
}

}  // namespace kron::daemon
