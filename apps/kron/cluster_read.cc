#include "cluster_read.h"

#include <algorithm>

#include "kron/base/text.h"

namespace kron::cli {
namespace {

constexpr std::size_t kMostNames = 2'000'000;
constexpr std::size_t kMostBytes = std::size_t{1} << 30;
constexpr std::size_t kRunsAtOnce = 500;

tl::unexpected<Error> too_much(const std::string& key) {
  return fail(Code::conflict, key + " holds more than this command reads (" + std::to_string(kMostNames) + " names, " +
                                  bytes_text(kMostBytes) + ")");
}

std::string near_text(std::string_view name, const std::set<std::string>& known) {
  if (known.size() > 10'000) return {};
  const std::vector<std::string_view> names(known.begin(), known.end());
  const std::string_view near = nearest_word(name, names);
  return near.empty() ? "" : "; did you mean " + quoted(near, 200) + "?";
}

}  // namespace

Result<Definitions> read_definitions(ClusterSession& session) {
  Definitions definitions;
  std::size_t bytes = 0;
  const std::string key = session.keys().jobs();
  const Status done = session.scan("HSCAN", key, {}, [&](const std::vector<RedisValue>& page) -> Status {
    for (std::size_t i = 0; i + 1 < page.size(); i += 2) {
      bytes += page[i].text.size() + page[i + 1].text.size();
      definitions.insert_or_assign(page[i].text, page[i + 1].text);
    }
    if (definitions.size() > kMostNames || bytes > kMostBytes) return too_much(key);
    return {};
  });
  if (!done) return fail(done.error());
  return definitions;
}

Result<Definitions> read_definitions(ClusterSession& session, std::span<const std::string> names) {
  Definitions definitions;
  for (const std::string& name : names) {
    auto text = session.ask({"HGET", session.keys().jobs(), name});
    if (!text) return fail(text.error());
    if (text->kind == RedisValue::Kind::text) {
      definitions.emplace(name, std::move(text->text));
      continue;
    }
    const auto known = read_names(session);
    if (!known) return fail(known.error());
    return fail(Code::not_found, "there is no job " + quoted(name, 200) + " in the cluster" + near_text(name, *known));
  }
  return definitions;
}

Result<std::set<std::string>> read_names(ClusterSession& session) {
  const std::string key = session.keys().jobs();
  const auto count = session.ask({"HLEN", key});
  if (!count) return fail(count.error());
  if (count->integer > static_cast<std::int64_t>(kMostNames)) return too_much(key);
  auto names = session.ask({"HKEYS", key});
  if (!names) return fail(names.error());
  std::set<std::string> known;
  for (RedisValue& name : names->items) known.insert(std::move(name.text));
  return known;
}

Result<double> read_time(ClusterSession& session) {
  const auto time = session.ask({"TIME"});
  if (!time) return fail(time.error());
  const auto at = [&](std::size_t i) { return i < time->items.size() ? number_of(time->items[i].text) : std::nullopt; };
  return at(0).value_or(0) + at(1).value_or(0) / 1e6;
}

Result<Scored> read_newest(ClusterSession& session, const std::string& key, std::size_t limit) {
  if (limit == 0) return Scored();
  const auto answer = session.ask({"ZREVRANGE", key, "0", std::to_string(limit - 1), "WITHSCORES"});
  if (!answer) return fail(answer.error());
  Scored scored;
  for (std::size_t i = 0; i + 1 < answer->items.size(); i += 2) {
    scored.emplace_back(answer->items[i].text, number_of(answer->items[i + 1].text).value_or(0));
  }
  return scored;
}

Result<std::vector<ClusterRun>> read_runs(ClusterSession& session, const Scored& ids) {
  std::vector<ClusterRun> runs;
  for (std::size_t first = 0; first < ids.size(); first += kRunsAtOnce) {
    const std::size_t last = std::min(first + kRunsAtOnce, ids.size());
    RedisCommand command{"HMGET", session.keys().rundata()};
    for (std::size_t i = first; i < last; ++i) command.push_back(ids[i].first);
    const auto blobs = session.ask(std::move(command));
    if (!blobs) return fail(blobs.error());
    for (std::size_t i = first; i < last && i - first < blobs->items.size(); ++i) {
      const RedisValue& blob = blobs->items[i - first];
      if (blob.kind != RedisValue::Kind::text) continue;
      runs.push_back(run_of(ids[i].first, blob.text));
      runs.back().at = ids[i].second;
    }
  }
  return runs;
}

Result<std::optional<ClusterRun>> read_run(ClusterSession& session, const std::string& id) {
  const auto blob = session.ask({"HGET", session.keys().rundata(), id});
  if (!blob) return fail(blob.error());
  if (blob->kind != RedisValue::Kind::text) return std::optional<ClusterRun>();
  return std::optional(run_of(id, blob->text));
}

}  // namespace kron::cli
