#include "cluster_edit.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <poll.h>

#include "kron/cluster/calls.h"
#include "kron/cluster/definition_edit.h"
#include "kron/env/clock.h"
#include "kron/env/real_file_system.h"
#include "kron/jobs/cronken.h"

namespace kron::cli {
namespace {

constexpr std::size_t kEditsAtOnce = 200;
constexpr int kMostRounds = 8;  // of definitions that others write at the same time
constexpr int kMostPublications = 3;
constexpr Nanoseconds kRepeatEvent = Seconds(3);
constexpr int kEffectMilliseconds = 200;

constexpr std::array kKeyVariables{"KRON_JOBS_HMAC_KEY"};

// All of a job but its definition, in one step, so that a job that is added meanwhile keeps what it writes.
// KEYS jobs, state, paused, results of success and of fail, general results of both, rundata. ARGV name, most runs,
// fields of state.
constexpr const char* kPruneScript = R"(
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return 0 end
local removed = redis.call('SREM', KEYS[3], ARGV[1])
for i = 3, #ARGV do removed = removed + redis.call('HDEL', KEYS[2], ARGV[i]) end
for i = 4, 5 do
  local runs = redis.call('ZRANGE', KEYS[i], 0, tonumber(ARGV[2]) - 1)
  for _, run in ipairs(runs) do
    redis.call('HDEL', KEYS[8], run)
    redis.call('ZREM', KEYS[i + 2], run)
    redis.call('ZREM', KEYS[i], run)
  end
  removed = removed + #runs
end
return removed
)";
constexpr const char* kMostPrunedRuns = "500";

// One round: those that are still pending.
Status apply_once(ClusterSession& session, std::span<Edit*> edits, const Change& change, std::optional<bool> paused) {
  std::vector<RedisCommand> commands;
  std::vector<Edit*> scripted;
  for (Edit* edit : edits) {
    const auto wanted = change(edit->name, edit->text);
    if (!wanted) return fail(wanted.error());
    if (!*wanted) {
      if (paused) {
        const auto set = session.ask({*paused ? "SADD" : "SREM", session.keys().paused(), edit->name});
        if (!set) return fail(set.error());
      }
      edit->outcome = Edit::Outcome::done;
      continue;
    }
    const cluster::DefineCall call{.job = edit->name, .read = edit->text, .wanted = **wanted, .paused = paused};
    commands.push_back(call.command(session.keys()));
    scripted.push_back(edit);
  }
  if (commands.empty()) return {};
  const auto replies = session.run_scripts(commands);
  if (!replies) return fail(replies.error());
  for (std::size_t i = 0; i < scripted.size(); ++i) {
    const RedisReply& reply = (*replies)[i];
    if (reply.how == RedisReply::How::error) return fail(error_of_redis(reply.why));
    const auto answer = cluster::DefineAnswer::parse(reply.value);
    if (!answer) return fail(answer.error());
    using Word = cluster::DefineAnswer::Word;
    switch (answer->word) {
      case Word::ok:
        scripted[i]->outcome = Edit::Outcome::done;
        break;
      case Word::same:
        scripted[i]->outcome = Edit::Outcome::unchanged;
        break;
      case Word::gone:
        scripted[i]->outcome = Edit::Outcome::gone;
        break;
      case Word::changed:
        scripted[i]->text = answer->text;
        break;
    }
  }
  return {};
}

}  // namespace

Result<cluster::JobRules> read_rules(ClusterSession& session, ZoneDatabase& zones) {
  const auto name = session.ask({"HGET", session.keys().cluster(), "timezone"});
  if (!name) return fail(name.error());
  cluster::JobRules rules{.zones = zones, .name_space = session.keys().name_space()};
  if (name->kind != RedisValue::Kind::text) return rules;
  const auto zone = zones.find(name->text);
  if (!zone) return fail(Code::conflict, "the cluster's time zone: " + zone.error().message);
  rules.zone = *zone;
  return rules;
}

Result<std::optional<cluster::SigningKey>> signing_key(const std::string& flag) {
  const std::string path = first_given(flag, kKeyVariables);
  if (path.empty()) return std::optional<cluster::SigningKey>();
  RealFileSystem disk;
  auto key = cluster::SigningKey::read(disk, std::filesystem::absolute(path).string());
  if (!key) return fail(key.error());
  return std::optional(*std::move(key));
}

Result<std::string> signed_text(const cluster::SigningKey& key, const ClusterSession& session, const std::string& name,
                                const std::string& text) {
  const auto node = parse_json(text);
  if (!node) return fail(node.error());
  return cluster::with_signature(text, key.sign(session.keys().name_space(), name, *node));
}

Status apply(ClusterSession& session, std::vector<Edit>& edits, const Change& change, std::optional<bool> paused) {
  for (std::size_t first = 0; first < edits.size(); first += kEditsAtOnce) {
    const std::size_t last = std::min(first + kEditsAtOnce, edits.size());
    for (int round = 0; round < kMostRounds; ++round) {
      std::vector<Edit*> pending;
      for (std::size_t i = first; i < last; ++i) {
        if (edits[i].outcome == Edit::Outcome::pending) pending.push_back(&edits[i]);
      }
      if (pending.empty()) break;
      if (const Status done = apply_once(session, pending, change, paused); !done) return done;
    }
  }
  const bool is_done =
      std::ranges::none_of(edits, [](const Edit& edit) { return edit.outcome == Edit::Outcome::pending; });
  if (is_done) return {};
  return fail(Code::conflict, "somebody else writes the same definition again and again; try again");
}

Result<DefinitionWritten> write_definition(ClusterSession& session, const std::string& name, const std::string& text,
                                           bool replace) {
  const cluster::Keys& keys = session.keys();
  const auto node = lenient_json(text);
  const bool has_state = node && node->find("job_state") != nullptr;
  const auto pause_in = [](const Result<Node>& definition) {
    return definition ? jobs::cronken_pause(*definition) : std::nullopt;
  };
  const std::optional<jobs::ClusterPause> given = pause_in(node);
  for (int round = 0; round < kMostRounds; ++round) {
    const auto added = session.ask({"HSETNX", keys.jobs(), name, text});
    if (!added) return fail(added.error());
    if (added->integer == 1) {
      const auto set = session.ask({given ? "SADD" : "SREM", keys.paused(), name});
      if (!set) return fail(set.error());
      return DefinitionWritten::added;
    }
    if (!replace) return DefinitionWritten::kept;
    const auto old = session.ask({"HGET", keys.jobs(), name});
    if (!old) return fail(old.error());
    if (old->kind != RedisValue::Kind::text) continue;  // removed meanwhile
    std::optional<jobs::ClusterPause> pause = given;
    const auto change = [&](const std::string& /*name*/,
                            const std::string& before) -> Result<std::optional<std::string>> {
      pause = has_state ? given : pause_in(lenient_json(before));
      if (pause == given) return std::optional(text);
      const auto wanted = cluster::with_paused(text, pause);
      if (!wanted) return fail(wanted.error());
      return std::optional(*wanted);
    };
    std::vector<Edit> edits{{name, old->text}};
    if (const Status done = apply(session, edits, change, std::nullopt); !done) return fail(done.error());
    if (edits.front().outcome == Edit::Outcome::gone) continue;
    const auto set = session.ask({pause ? "SADD" : "SREM", keys.paused(), name});
    if (!set) return fail(set.error());
    return DefinitionWritten::replaced;
  }
  return fail(Code::conflict, "somebody else adds and removes this job again and again; try again");
}

Result<std::int64_t> tell(ClusterSession& session, const cluster::Event& event, const cluster::Sender& sender) {
  const std::string text = cluster::text_of(event, sender);
  auto heard = session.publish(text);
  for (int attempt = 1; attempt < kMostPublications && !heard && heard.error().code == Code::unreachable; ++attempt) {
    heard = session.publish(text);
  }
  return heard;
}

Result<bool> tell_until(ClusterSession& session, const cluster::Event& event,
                        const std::function<Result<bool>()>& is_done) {
  const RealClock clock;
  const Nanoseconds began = clock.monotonic();
  Nanoseconds next{0};
  for (;;) {
    const Nanoseconds passed = clock.monotonic() - began;
    if (passed >= kEffectLimit) return false;
    if (passed >= next) {
      if (const auto heard = tell(session, event); !heard) return fail(heard.error());
      next += kRepeatEvent;
    }
    ::poll(nullptr, 0, kEffectMilliseconds);
    const auto done = is_done();
    if (!done || *done) return done;
  }
}

void warn_if_unheard(std::string_view verb, std::int64_t hosts, std::string_view consequence) {
  if (hosts > 0) return;
  std::fflush(stdout);  // in the order of what was done
  std::fprintf(stderr, "kron %s: no host of the cluster listens; %s\n", std::string(verb).c_str(),
               std::string(consequence).c_str());
}

Result<StateFields> read_state_fields(ClusterSession& session) {
  StateFields fields;
  const Status done = session.scan("HSCAN", session.keys().state(), {}, [&](const std::vector<RedisValue>& page) {
    for (std::size_t i = 0; i + 1 < page.size(); i += 2) {
      const std::string& field = page[i].text;
      // `job`, `job\ninstance`, or what could not be read: `corrupt\njob`.
      const std::size_t at = field.find('\n');
      const bool is_corrupt = at != std::string::npos && std::string_view(field).substr(0, at) == "corrupt";
      const std::string rest = is_corrupt ? field.substr(at + 1) : field;
      auto& of_job = fields[rest.substr(0, rest.find('\n'))];
      if (std::ranges::find(of_job, field) == of_job.end()) of_job.push_back(field);
    }
    return Status();
  });
  if (!done) return fail(done.error());
  return fields;
}

Result<std::int64_t> prune_job(ClusterSession& session, const std::string& name,
                               std::span<const std::string> state_fields) {
  const cluster::Keys& keys = session.keys();
  std::int64_t removed = 0;
  RedisCommand command{"EVAL",
                       kPruneScript,
                       "8",
                       keys.jobs(),
                       keys.state(),
                       keys.paused(),
                       keys.results(name, "success"),
                       keys.results(name, "fail"),
                       keys.results("success"),
                       keys.results("fail"),
                       keys.rundata(),
                       name,
                       kMostPrunedRuns};
  command.insert(command.end(), state_fields.begin(), state_fields.end());
  for (;;) {
    const auto some = session.ask(command);
    if (!some) return fail(some.error());
    if (some->integer == 0) return removed;
    removed += some->integer;
  }
}

}  // namespace kron::cli
