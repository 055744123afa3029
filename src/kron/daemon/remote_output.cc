#include "kron/daemon/remote_output.h"

#include <vector>

#include "kron/cluster/output_lines.h"
#include "kron/cluster/replies.h"
#include "kron/cluster/rundata.h"

namespace kron::daemon {
namespace {

constexpr Nanoseconds kPageWait = Seconds(3);
constexpr std::size_t kPage = 500;  // lines

Result<std::vector<RedisValue>> answers_to(cluster::Link& link, std::vector<RedisCommand> commands) {
  std::vector<RedisValue> values;
  for (cluster::TimedReply& timed : link.ask(std::move(commands), kPageWait)) {
    if (timed.reply.how == RedisReply::How::lost || timed.reply.how == RedisReply::How::not_sent) {
      return fail(Code::unreachable, "Redis, which has the output, does not answer; ask again");
    }
    if (!timed.reply.is_reply()) return fail(Code::io, timed.reply.why);
    values.push_back(std::move(timed.reply.value));
  }
  return values;
}

}  // namespace

Result<api::OtherHosts::Output> remote_output(cluster::Link& link, const cluster::Keys& keys, const std::string& run_id,
                                              std::size_t first) {
  const std::string key = keys.output(run_id);
  // The run first: what is written before its end is there when the end is seen.
  const auto found = answers_to(link, {{"HGET", keys.rundata(), run_id}, {"TYPE", key}});
  if (!found) return fail(found.error());
  const Result<cluster::RunData> run = cluster::parse_rundata((*found)[0].text);
  const Result<cluster::OutputKind> kind = cluster::output_kind((*found)[1].text);
  if (!kind) return fail(kind.error());
  api::OtherHosts::Output output{.next = first, .is_over = !run || run->status != cluster::RunStatus::running};
  if (*kind == cluster::OutputKind::none) {
    const bool has_written = !run || !run->output.empty();
    if (!output.is_over || !has_written || first > 0) return output;
    return fail(Code::not_found, "the cluster has no output of the run " + run_id +
                                     " any more: it is kept for 24 hours after the last line");
  }
  const auto page = answers_to(link, {cluster::page_of_output(*kind, key, first, kPage)});
  if (!page) return fail(page.error());
  for (const RedisValue& line : page->front().items) output.text += cluster::text_of_line(*kind, line.text);
  output.next += page->front().items.size();
  output.has_more = page->front().items.size() == kPage;
  return output;
}

}  // namespace kron::daemon
