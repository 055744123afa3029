#include "kron/cluster/calls.h"

#include <charconv>
#include <cstdio>

#include "kron/base/text.h"
#include "kron/cluster/scripts.h"
#include "kron/queue/redis_queue_keys.h"
#include "kron/queue/redis_task.h"

namespace kron::cluster {
namespace {

using Kind = RedisValue::Kind;

std::string millis(Nanoseconds time) {
  return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(time).count());
}

std::string text_of(const std::optional<Instant>& time) {
  return time ? std::to_string(epoch_seconds(*time)) : std::string();
}

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// EVALSHA with its keys, to which arguments are appended.
class Evalsha {
 public:
  Evalsha(std::string_view script, std::vector<std::string> keys) {
    command_ = {"EVALSHA", script_named(script).sha, std::to_string(keys.size())};
    for (std::string& key : keys) command_.push_back(std::move(key));
  }

  Evalsha& operator<<(std::string argument) {
    command_.push_back(std::move(argument));
    return *this;
  }
  Evalsha& operator<<(std::uint64_t number) { return *this << std::to_string(number); }
  Evalsha& operator<<(const std::vector<std::string>& arguments) {
    command_.insert(command_.end(), arguments.begin(), arguments.end());
    return *this;
  }

  RedisCommand take() { return std::move(command_); }

 private:
  RedisCommand command_;
};

tl::unexpected<Error> no_answer_of(std::string_view script) {
  return fail(Code::io, "Redis's reply is no answer of the script " + quoted(script));
}

// An answer's items after its heading, read one by one.
class Items {
 public:
  explicit Items(const RedisValue& value) : value_(value) {}

  [[nodiscard]] bool has_more() const { return next_ < value_.items.size(); }
  [[nodiscard]] bool is_good() const { return good_; }

  std::string text() {
    const RedisValue* item = take(Kind::text);
    return item == nullptr ? std::string() : item->text;
  }
  std::uint64_t number() {
    const std::optional<std::uint64_t> number = number_in(text());
    good_ = good_ && number.has_value();
    return number.value_or(0);
  }
  std::vector<std::string> texts() {
    std::vector<std::string> all;
    if (const RedisValue* list = take(Kind::array)) {
      for (const RedisValue& item : list->items) all.push_back(item.text);
    }
    return all;
  }

 private:
  const RedisValue* take(Kind kind) {
    if (!has_more() || value_.items[next_].kind != kind) {
      good_ = false;
      return nullptr;
    }
    return &value_.items[next_++];
  }

  const RedisValue& value_;
  std::size_t next_ = 4;
  bool good_ = true;
};

template <class Word>
struct NamedWord {
  std::string_view name;
  Word word;
};

template <class Answer, std::size_t size>
bool read_word(Answer& answer, const RedisValue& value, const NamedWord<typename Answer::Word> (&words)[size]) {
  std::optional<Heading> heading = heading_of(value);
  if (!heading) return false;
  answer.heading = *std::move(heading);
  for (const auto& known : words) {
    if (known.name != answer.heading.word) continue;
    answer.word = known.word;
    return true;
  }
  return false;
}

template <class Answer>
bool read_heading(Answer& answer, const RedisValue& value) {
  std::optional<Heading> heading = heading_of(value);
  if (heading) answer.heading = *std::move(heading);
  return heading.has_value();
}

}  // namespace

std::optional<Heading> heading_of(const RedisValue& value) {
  if (value.kind != Kind::array || value.items.size() < 4) return std::nullopt;
  for (std::size_t i = 0; i < 4; ++i) {
    if (value.items[i].kind != Kind::text) return std::nullopt;
  }
  const std::optional<std::uint64_t> seconds = number_in(value.items[1].text);
  const std::optional<std::uint64_t> micros = number_in(value.items[2].text);
  if (!seconds || !micros || *seconds > static_cast<std::uint64_t>(epoch_seconds(kLastInstant)) ||
      *micros >= 1'000'000) {
    return std::nullopt;
  }
  Heading heading;
  heading.word = value.items[0].text;
  heading.time = Seconds(*seconds) + std::chrono::microseconds(*micros);
  char digits[8] = {};
  std::snprintf(digits, sizeof digits, ".%06u", static_cast<unsigned>(*micros));
  heading.stamp = value.items[1].text + digits;
  heading.fence = number_in(value.items[3].text);
  return heading;
}

std::optional<Heading> heading_of(const RedisReply& reply) {
  if (!reply.is_reply()) return std::nullopt;
  return heading_of(reply.value);
}

std::optional<std::uint64_t> revision_of(std::string_view record) {
  constexpr std::string_view kBegin = "{\"Revision\":";
  if (!record.starts_with(kBegin)) return std::nullopt;
  record.remove_prefix(kBegin.size());
  const std::size_t end = record.find(',');
  if (end == std::string_view::npos) return std::nullopt;
  return number_in(record.substr(0, end));
}

RedisCommand StepCall::command(const Keys& keys) const {
  std::vector<std::string> names = {keys.state(), keys.rundata(),  keys.active(), keys.claims(),
                                    keys.fence(), keys.outcomes(), keys.paused()};
  const bool is_locked = !lock_key.empty();
  if (is_locked) names.push_back(lock_key);
  if (foreign_since) {
    names.push_back(keys.results(job, "success"));
    names.push_back(keys.results(job, "fail"));
  }
  if (has_tasks()) {
    names.push_back(keys.results("success"));
    names.push_back(keys.results(job, "success"));
  }
  Evalsha call("step", std::move(names));
  call << field << owner << (revision ? std::to_string(*revision) : std::string()) << record << text_of(chosen)
       << text_of(grant_until) << text_of(missed_after) << (asks_paused ? job : std::string())
       << std::string(is_locked ? "1" : "0") << millis(ttl) << std::string(closing_is_held ? "1" : "0")
       << (foreign_since ? std::to_string(epoch_seconds(*foreign_since) - 1) + ".5" : std::string()) << outcomes_cap
       << (has_tasks() ? kRedisTaskArguments : 0) << millis(least_hold) << general_cap << job_cap
       << RedisQueueKeys(keys.name_space()).prefix() << std::to_string(ageing.count()) << starts.size();
  for (const Start& start : starts) {
    call << start.run_id << start.blob_head << start.blob_tail;
    std::vector<std::string> task;
    if (start.task) add_redis_task_arguments(task, *start.task);
    call << task;
  }
  call << outcomes;
  return call.take();
}

Result<StepAnswer> StepAnswer::parse(const RedisValue& value, bool has_tasks) {
  static constexpr NamedWord<Word> kWords[] = {{"ok", Word::ok},     {"again", Word::again},     {"newer", Word::newer},
                                               {"gone", Word::gone}, {"corrupt", Word::corrupt}, {"early", Word::early},
                                               {"late", Word::late}, {"paused", Word::paused},   {"known", Word::known},
                                               {"held", Word::held}};
  StepAnswer answer;
  if (!read_word(answer, value, kWords)) return no_answer_of("step");
  Items items(value);
  switch (answer.word) {
    case Word::ok: {
      answer.revision = number_in(items.text());
      break;
    }
    case Word::again:
    case Word::newer:
    case Word::corrupt:
      answer.record = items.text();
      break;
    case Word::known:
      answer.run_id = items.text();
      break;
    case Word::held: {
      answer.run_id = items.text();
      const std::string rest = items.text();  // -1: for ever
      answer.held_for = std::chrono::milliseconds(number_in(rest).value_or(0));
      break;
    }
    case Word::gone:
    case Word::early:
    case Word::late:
    case Word::paused:
      break;
  }
  if (answer.word == Word::ok || answer.word == Word::again) {
    while (items.is_good() && items.has_more()) {
      const std::uint64_t fence = items.number();
      answer.granted.push_back({fence, items.text()});
      if (has_tasks && answer.word == Word::ok) answer.granted.back().outcome = items.text();
    }
  }
  if (!items.is_good()) return no_answer_of("step");
  return answer;
}

RedisCommand EndCall::command(const Keys& keys) const {
  std::vector<std::string> names = {keys.rundata(),
                                    keys.active(),
                                    keys.claims(),
                                    keys.fence(),
                                    keys.outcomes(),
                                    keys.results(status),
                                    keys.results(job, status),
                                    keys.output(run_id)};
  if (!lock_key.empty()) names.push_back(lock_key);
  Evalsha call("end", std::move(names));
  call << run_id << start_time << blob_head << blob_tail << general_cap << job_cap << run_id << millis(least_hold)
       << (only_if_older ? std::to_string(only_if_older->count()) : std::string()) << outcome << outcomes_cap
       << std::to_string(output_ttl.count()) << std::string(output_is_list ? "list" : "zset") << lines_there << lines;
  return call.take();
}

Result<EndAnswer> EndAnswer::parse(const RedisValue& value) {
  static constexpr NamedWord<Word> kWords[] = {{"ended", Word::ended}, {"over", Word::over}, {"alive", Word::alive}};
  EndAnswer answer;
  if (!read_word(answer, value, kWords)) return no_answer_of("end");
  return answer;
}

RedisCommand KeepCall::command(const Keys& keys) const {
  std::vector<std::string> names = {keys.active(), keys.fence()};
  for (const Lock& lock : locks) names.push_back(lock.key);
  Evalsha call("keep", std::move(names));
  call << runs.size() << runs;
  for (const Lock& lock : locks) call << lock.run_id << millis(lock.ttl);
  return call.take();
}

Result<KeepAnswer> KeepAnswer::parse(const RedisValue& value) {
  KeepAnswer answer;
  Items items(value);
  if (!read_heading(answer, value) || answer.heading.word != "kept") return no_answer_of("keep");
  answer.gone = items.texts();
  answer.lost = items.texts();
  if (!items.is_good()) return no_answer_of("keep");
  return answer;
}

RedisCommand PushCall::command(const Keys& keys) const {
  Evalsha call("push", {keys.output(run_id)});
  call << lines_there << std::to_string(output_ttl.count()) << std::string(output_is_list ? "list" : "zset") << lines;
  return call.take();
}

Result<PushAnswer> PushAnswer::parse(const RedisValue& value) {
  PushAnswer answer;
  Items items(value);
  if (!read_heading(answer, value)) return no_answer_of("push");
  answer.is_gap = answer.heading.word == "gap";
  answer.lines_there = items.number();
  if ((!answer.is_gap && answer.heading.word != "ok") || !items.is_good()) return no_answer_of("push");
  return answer;
}

RedisCommand DefineCall::command(const Keys& keys) const {
  Evalsha call("define", {keys.jobs(), keys.paused()});
  call << job << read << wanted << std::string(!paused ? "" : *paused ? "1" : "0");
  return call.take();
}

Result<DefineAnswer> DefineAnswer::parse(const RedisValue& value) {
  static constexpr NamedWord<Word> kWords[] = {
      {"ok", Word::ok}, {"same", Word::same}, {"changed", Word::changed}, {"gone", Word::gone}};
  DefineAnswer answer;
  if (!read_word(answer, value, kWords)) return no_answer_of("define");
  Items items(value);
  if (answer.word == Word::changed) answer.text = items.text();
  if (!items.is_good()) return no_answer_of("define");
  return answer;
}

RedisCommand StaleRunsCall::command(const Keys& keys) const {
  Evalsha call("stale_runs", {keys.rundata(), keys.active(), keys.instances(), keys.fence()});
  call << std::to_string(age.count()) << most;
  return call.take();
}

Result<StaleRunsAnswer> StaleRunsAnswer::parse(const RedisValue& value) {
  StaleRunsAnswer answer;
  Items items(value);
  if (!read_heading(answer, value) || answer.heading.word != "stale") return no_answer_of("stale_runs");
  while (items.is_good() && items.has_more()) {
    std::string run_id = items.text();
    answer.runs.emplace_back(std::move(run_id), items.text());
  }
  if (!items.is_good()) return no_answer_of("stale_runs");
  return answer;
}

RedisCommand SweepCall::command(const Keys& keys) const {
  Evalsha call("sweep", {keys.claims(), keys.active()});
  call << cursor << count;
  return call.take();
}

Result<SweepAnswer> SweepAnswer::parse(const RedisValue& value) {
  SweepAnswer answer;
  Items items(value);
  if (!read_heading(answer, value) || answer.heading.word != "swept") return no_answer_of("sweep");
  answer.cursor = items.text();
  answer.swept = items.number();
  if (!items.is_good()) return no_answer_of("sweep");
  return answer;
}

RedisCommand RaiseCall::command(const Keys& keys) const {
  Evalsha call("raise", {keys.fence(), keys.outcomes()});
  call << seen << kJump << outcomes_cap << outcome;
  return call.take();
}

Result<RaiseAnswer> RaiseAnswer::parse(const RedisValue& value) {
  RaiseAnswer answer;
  Items items(value);
  if (!read_heading(answer, value)) return no_answer_of("raise");
  if (answer.heading.word == "lost") answer.lost_at = items.number();
  if ((!answer.lost_at && answer.heading.word != "ok") || !items.is_good()) return no_answer_of("raise");
  return answer;
}

RedisCommand MakeCall::command(const Keys& keys) const {
  Evalsha call("make", {keys.state(), keys.fence()});
  call << field << record << text_of(first_seen);
  return call.take();
}

Result<MakeAnswer> MakeAnswer::parse(const RedisValue& value) {
  static constexpr NamedWord<Word> kWords[] = {{"made", Word::made}, {"there", Word::there}, {"early", Word::early}};
  MakeAnswer answer;
  if (!read_word(answer, value, kWords)) return no_answer_of("make");
  Items items(value);
  if (answer.word == Word::made) answer.revision = items.number();
  if (answer.word == Word::there) answer.record = items.text();
  if (!items.is_good()) return no_answer_of("make");
  return answer;
}

RedisCommand RestoreCall::command(const Keys& keys) const {
  Evalsha call("restore", {keys.state(), keys.fence()});
  call << field << record << above
       << std::string(expect == Expect::absent     ? "absent"
                      : expect == Expect::revision ? "revision"
                                                   : "text")
       << expected << move_to;
  return call.take();
}

Result<RestoreAnswer> RestoreAnswer::parse(const RedisValue& value) {
  static constexpr NamedWord<Word> kWords[] = {
      {"done", Word::done}, {"newer", Word::newer}, {"corrupt", Word::corrupt}, {"gone", Word::gone}};
  RestoreAnswer answer;
  if (!read_word(answer, value, kWords)) return no_answer_of("restore");
  Items items(value);
  if (answer.word == Word::done) answer.revision = items.number();
  if (answer.word == Word::newer || answer.word == Word::corrupt) answer.record = items.text();
  if (!items.is_good()) return no_answer_of("restore");
  return answer;
}

RedisCommand JoinCall::command(const Keys& keys) const {
  Evalsha call("join", {keys.hosts(), keys.instances()});
  call << host << owner << instance << std::to_string(free_after.count()) << head << tail << member;
  return call.take();
}

Result<JoinAnswer> JoinAnswer::parse(const RedisValue& value) {
  JoinAnswer answer;
  Items items(value);
  if (!read_heading(answer, value)) return no_answer_of("join");
  if (answer.heading.word == "full") return answer;
  answer.instance = items.text();
  if (answer.heading.word != "joined" || !items.is_good()) return no_answer_of("join");
  return answer;
}

RedisCommand AssertCall::command(const Keys& keys) const {
  std::vector<std::string> names = {keys.rundata(), keys.active(), keys.claims(), keys.fence()};
  if (!lock_key.empty()) names.push_back(lock_key);
  Evalsha call("assert", std::move(names));
  call << run_id << owner << fence << start_time << blob << millis(ttl);
  return call.take();
}

Result<AssertAnswer> AssertAnswer::parse(const RedisValue& value) {
  static constexpr NamedWord<Word> kWords[] = {{"ok", Word::ok}, {"over", Word::over}, {"taken", Word::taken}};
  AssertAnswer answer;
  if (!read_word(answer, value, kWords)) return no_answer_of("assert");
  Items items(value);
  if (answer.word == Word::taken) answer.holder = items.text();
  if (!items.is_good()) return no_answer_of("assert");
  return answer;
}

RedisCommand LeaveCall::command(const Keys& keys) const {
  Evalsha call("leave", {keys.hosts(), keys.instances()});
  call << host << owner << instance << member;
  return call.take();
}

Result<LeaveAnswer> LeaveAnswer::parse(const RedisValue& value) {
  LeaveAnswer answer;
  if (!read_heading(answer, value)) return no_answer_of("leave");
  answer.was_ours = answer.heading.word == "left";
  if (!answer.was_ours && answer.heading.word != "not_ours") return no_answer_of("leave");
  return answer;
}

}  // namespace kron::cluster
