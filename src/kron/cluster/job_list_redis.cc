#include "kron/cluster/job_list_redis.h"

#include <algorithm>

#include "kron/cluster/calls.h"
#include "kron/cluster/definition_edit.h"
#include "kron/cluster/replies.h"
#include "kron/cluster/short_lock.h"

namespace kron::cluster {
namespace {

constexpr Nanoseconds kListTimeout = std::chrono::seconds(5);
constexpr Nanoseconds kValidationLock = std::chrono::seconds(60);
constexpr std::string_view kPage = "500";
constexpr std::size_t kEditsAtATime = 100;
constexpr int kMostChanges = 10;  // of one text by others, while it is edited

Result<RedisValue> ask_one(Link& link, RedisCommand command) {
  return value_of(std::move(link.ask({std::move(command)}, kListTimeout).at(0).reply));
}

// All pages. What is there all the time comes at least once.
Status read_definitions(Link& link, const Keys& keys, JobTexts& texts) {
  std::string cursor = "0";
  do {
    Result<RedisValue> page = ask_one(link, {"HSCAN", keys.jobs(), cursor, "COUNT", std::string(kPage)});
    if (!page) return fail(page.error());
    if (page->items.size() != 2) return fail(Code::internal, "Redis gave another answer than HSCAN does");
    cursor = page->items[0].text;
    std::vector<RedisValue>& pairs = page->items[1].items;
    for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
      texts.definitions.insert_or_assign(std::move(pairs[i].text), std::move(pairs[i + 1].text));
    }
  } while (cursor != "0");
  return {};
}

Result<std::vector<DefineAnswer>> ask_all(Link& link, const Keys& keys, std::span<const DefineCall> calls) {
  std::vector<RedisCommand> commands;
  commands.reserve(calls.size());
  for (const DefineCall& call : calls) commands.push_back(call.command(keys));
  std::vector<DefineAnswer> answers;
  for (TimedReply& reply : link.ask(std::move(commands), kListTimeout)) {
    const Result<RedisValue> value = value_of(std::move(reply.reply));
    if (!value) return fail(value.error());
    Result<DefineAnswer> answer = DefineAnswer::parse(*value);
    if (!answer) return fail(answer.error());
    answers.push_back(*std::move(answer));
  }
  return answers;
}

DefineCall call_of(const DefinitionEdit& edit) {
  DefineCall call{.job = edit.name, .read = edit.before, .wanted = edit.after};
  if (edit.set != DefinitionEdit::Set::leave) call.paused = edit.set == DefinitionEdit::Set::add;
  return call;
}

DefineCall pause_of(const TextOfJob& job, const std::optional<jobs::ClusterPause>& pause) {
  Result<std::string> edited = with_paused(job.text, pause);
  return {
      .job = job.name, .read = job.text, .wanted = edited ? *std::move(edited) : job.text, .paused = pause.has_value()};
}

}  // namespace

Result<JobTexts> read_job_texts(Link& link, const Keys& keys, Instant now) {
  JobTexts texts;
  texts.read_at = now;
  if (const Status read = read_definitions(link, keys, texts); !read) return fail(read.error());
  Result<RedisValue> paused = ask_one(link, {"SMEMBERS", keys.paused()});  // names only
  if (!paused) return fail(paused.error());
  for (RedisValue& name : paused->items) texts.paused.insert(std::move(name.text));
  Result<RedisValue> zone = ask_one(link, {"HGET", keys.cluster(), "timezone"});
  if (!zone) return fail(zone.error());
  texts.zone = std::move(zone->text);
  return texts;
}

Result<JobTexts> read_job_texts_of(Link& link, const Keys& keys, std::span<const std::string> names, Instant now) {
  JobTexts texts;
  texts.read_at = now;
  for (std::size_t done = 0; done < names.size();) {
    const std::span<const std::string> part = names.subspan(done, std::min(kEditsAtATime, names.size() - done));
    RedisCommand command{"HMGET", keys.jobs()};
    command.insert(command.end(), part.begin(), part.end());
    Result<RedisValue> answer = ask_one(link, std::move(command));
    if (!answer) return fail(answer.error());
    if (answer->items.size() != part.size()) return fail(Code::internal, "Redis gave another answer than HMGET does");
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (answer->items[i].kind == RedisValue::Kind::nil) continue;
      texts.definitions.insert_or_assign(part[i], std::move(answer->items[i].text));
    }
    done += part.size();
  }
  return texts;
}

Result<std::size_t> write_edits(Link& link, const Keys& keys, const std::vector<DefinitionEdit>& edits) {
  std::size_t made = 0;
  for (std::size_t done = 0; done < edits.size();) {
    const std::size_t count = std::min(kEditsAtATime, edits.size() - done);
    std::vector<DefineCall> calls;
    for (std::size_t i = 0; i < count; ++i) calls.push_back(call_of(edits[done + i]));
    const Result<std::vector<DefineAnswer>> answers = ask_all(link, keys, calls);
    if (!answers) return fail(answers.error());
    made += static_cast<std::size_t>(std::ranges::count_if(*answers, [](const DefineAnswer& answer) {
      return answer.word == DefineAnswer::Word::ok || answer.word == DefineAnswer::Word::same;
    }));
    done += count;
  }
  return made;
}

Status write_paused(Link& link, const Keys& keys, std::vector<TextOfJob> texts,
                    const std::optional<jobs::ClusterPause>& pause) {
  for (int round = 0; round < kMostChanges && !texts.empty(); ++round) {
    std::vector<TextOfJob> changed;
    for (std::size_t done = 0; done < texts.size();) {
      const std::size_t count = std::min(kEditsAtATime, texts.size() - done);
      std::vector<DefineCall> calls;
      for (std::size_t i = 0; i < count; ++i) calls.push_back(pause_of(texts[done + i], pause));
      Result<std::vector<DefineAnswer>> answers = ask_all(link, keys, calls);
      if (!answers) return fail(answers.error());
      for (std::size_t i = 0; i < count; ++i) {
        DefineAnswer& answer = (*answers)[i];
        if (answer.word != DefineAnswer::Word::changed) continue;
        changed.push_back({std::move(texts[done + i].name), std::move(answer.text)});
      }
      done += count;
    }
    texts = std::move(changed);
  }
  if (texts.empty()) return {};
  return fail(Code::conflict, "the definition of " + texts.front().name + " changes all the time");
}

Result<bool> validate_in_redis(Link& link, const Keys& keys, const std::vector<std::string>& names,
                               const JobRules& rules) {
  const Result<std::optional<std::string>> token = take_short_lock(link, keys.validation_lock(), kValidationLock);
  if (!token) return fail(token.error());
  if (!*token) return false;
  const auto validate = [&]() -> Status {
    const Result<JobTexts> texts =
        names.empty() ? read_job_texts(link, keys, Instant()) : read_job_texts_of(link, keys, names, Instant());
    if (!texts) return fail(texts.error());
    std::vector<DefinitionEdit> edits;
    for (const auto& [name, text] : texts->definitions) {
      if (std::optional<DefinitionEdit> edit = validation_edit(name, text, rules)) edits.push_back(*std::move(edit));
    }
    if (const Result<std::size_t> written = write_edits(link, keys, edits); !written) return fail(written.error());
    return {};
  };
  const Status done = validate();
  release_short_lock(link, keys.validation_lock(), **token);
  if (!done) return fail(done.error());
  return true;
}

}  // namespace kron::cluster
