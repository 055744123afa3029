#include "kron/daemon/outcome_tail.h"

#include <utility>
#include <vector>

#include "kron/base/text.h"
#include "kron/env/durable.h"
#include "kron/env/real_file_system.h"
#include "kron/history/stream_entry.h"

namespace kron::daemon {
namespace {

// Below history/: the id of the last entry that is in the history.
constexpr std::string_view kPositionName = "outcomes-read";
constexpr std::size_t kMostPosition = 64;

constexpr Nanoseconds kReadEvery = Seconds(1);
constexpr std::size_t kAtOnce = 500;
constexpr char kBegin[] = "0-0";

// One entry of a stream: its id, and the text of its field `o`.
struct Told {
  std::string id;
  std::string text;
};

std::vector<Told> entries_of(const RedisValue& list) {
  std::vector<Told> entries;
  for (const RedisValue& item : list.items) {
    if (item.items.size() != 2) continue;
    Told told{item.items[0].text, ""};
    const auto& fields = item.items[1].items;
    for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
      if (fields[i].text == "o") told.text = fields[i + 1].text;
    }
    entries.push_back(std::move(told));
  }
  return entries;
}

// XRANGE answers with entries, XREAD with a list of streams, each a name and its entries, or with nothing at all.
std::vector<Told> entries_in(const RedisValue& answer) {
  if (answer.items.empty()) return {};
  const RedisValue& first = answer.items.front();
  const bool is_stream =
      first.items.size() == 2 && !first.items[1].items.empty() && !first.items[1].items.front().items.empty();
  return entries_of(is_stream ? first.items[1] : answer);
}

}  // namespace

struct OutcomeTail::Shared {
  Shared(World of, std::string stream_key) : world(std::move(of)), key(std::move(stream_key)) {}

  World world;
  const std::string key;
  RealFileSystem file_system;
  std::unique_ptr<Directory> directory;

  std::mutex mutex;  // guards what follows
  bool has_stopped = false;
  bool is_asked = false;
  Nanoseconds ask_at{0};
  std::string last = kBegin;  // read
  std::string kept;           // and on disk
  bool looks_for_gap = true;  // at the first answer: what was trimmed while we were away is lost
  bool has_warned = false;
  bool has_caught_up = false;  // with what was told before
};

OutcomeTail::OutcomeTail(World world, std::string stream_key, const std::string& state_directory)
    : shared_(std::make_shared<Shared>(std::move(world), std::move(stream_key))) {
  auto directory = shared_->file_system.open_directory(state_directory + "/history");
  if (!directory) return;
  shared_->directory = *std::move(directory);
  const auto contents = shared_->directory->read(std::string(kPositionName), kMostPosition);
  if (!contents) return;
  const std::string id(trimmed(contents->bytes));
  if (history::is_behind(id, kBegin)) shared_->last = shared_->kept = id;
}

OutcomeTail::~OutcomeTail() { stop(); }

void OutcomeTail::stop() {
  const std::scoped_lock lock(shared_->mutex);
  shared_->has_stopped = true;
}

std::string OutcomeTail::position() const {
  const std::scoped_lock lock(shared_->mutex);
  return shared_->kept;
}

// The first entry of all is asked for too at first: when it stands behind what was read last, some may be gone.
Nanoseconds OutcomeTail::step() {
  const Nanoseconds present = shared_->world.clock.monotonic();
  RedisCommand command;
  {
    const std::scoped_lock lock(shared_->mutex);
    if (shared_->has_stopped) return present + kReadEvery;
    if (present < shared_->ask_at) return shared_->ask_at;
    shared_->ask_at = present + kReadEvery;
    if (shared_->is_asked || !shared_->world.link.is_up()) return shared_->ask_at;
    shared_->is_asked = true;
    if (shared_->looks_for_gap && shared_->last != kBegin) {
      command = {"XRANGE", shared_->key, "-", "+", "COUNT", "1"};
    } else {
      shared_->looks_for_gap = false;
      command = {"XREAD", "COUNT", std::to_string(kAtOnce), "STREAMS", shared_->key, shared_->last};
    }
  }
  shared_->world.link.post(
      std::move(command), cluster::Link::Urgency::bulk, [shared = shared_](const cluster::TimedReply& timed) {
        const std::scoped_lock lock(shared->mutex);
        if (shared->has_stopped) return;
        const bool taken = shared->world.aside([shared, reply = timed.reply] { take(shared, reply); });
        if (!taken) shared->is_asked = false;
      });
  return present + kReadEvery;
}

void OutcomeTail::take(const std::shared_ptr<Shared>& shared, const RedisReply& reply) {
  const std::vector<Told> told = reply.is_reply() ? entries_in(reply.value) : std::vector<Told>();
  std::vector<history::Entry> entries;
  std::size_t unreadable = 0;
  for (const Told& one : told) {
    auto entry = history::parse_stream_entry(one.id, one.text);
    if (entry) {
      entries.push_back(*std::move(entry));
    } else {
      ++unreadable;
    }
  }
  const std::scoped_lock lock(shared->mutex);
  if (shared->has_stopped) return;
  shared->is_asked = false;
  if (!reply.is_reply()) {
    if (!std::exchange(shared->has_warned, true)) {
      shared->world.log.warning("outcomes_unreadable", {{"reason", reply.why}});
    }
    return;
  }
  shared->has_warned = false;
  if (std::exchange(shared->looks_for_gap, false)) {
    if (!told.empty() && history::is_behind(told.front().id, shared->last)) {
      shared->world.log.warning("gap", {{"from", shared->last},
                                        {"to", told.front().id},
                                        {"reason",
                                         "this host was away for longer than the cluster keeps outcomes "
                                         "(--outcomes-limit); `kron runs` lacks some of other hosts"}});
    }
    shared->ask_at = Nanoseconds(0);
    return;
  }
  if (unreadable != 0) {
    shared->world.log.warning("outcomes_unreadable", {{"count", static_cast<std::int64_t>(unreadable)},
                                                      {"reason", "entries of the stream that are no outcomes"}});
  }
  const bool are_news = std::exchange(shared->has_caught_up, shared->has_caught_up || told.size() < kAtOnce);
  if (told.empty()) return;
  shared->last = told.back().id;
  if (told.size() == kAtOnce) shared->ask_at = Nanoseconds(0);
  for (history::Entry& entry : entries) {
    if (are_news && shared->world.on_news) shared->world.on_news(entry);
    const std::string ended = entry.ended_at ? entry.run_id : "";
    shared->world.history.add(std::move(entry));
    if (!ended.empty() && shared->world.on_end) shared->world.on_end(ended);
  }
  shared->world.history.when_written([shared, id = told.back().id] { keep(shared, id); });
}

// If we die before this, the next krond reads the same entries again, and the history knows them.
void OutcomeTail::keep(const std::shared_ptr<Shared>& shared, const std::string& id) {
  if (shared->directory) {
    const std::string text = id + "\n";
    if (!durable_replace(shared->file_system, *shared->directory, {.name = kPositionName, .bytes = text})) return;
  }
  const std::scoped_lock lock(shared->mutex);
  shared->kept = id;
}

}  // namespace kron::daemon
