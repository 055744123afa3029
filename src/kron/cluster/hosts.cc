#include "kron/cluster/hosts.h"

#include <algorithm>
#include <set>

#include "kron/base/text.h"
#include "kron/cluster/calls.h"
#include "kron/cluster/replies.h"
#include "kron/env/durable.h"
#include "kron/env/random_hex.h"
#include "kron/json/document.h"
#include "kron/json/writer.h"

namespace kron::cluster {
namespace {

constexpr Nanoseconds kBeatTimeout = std::chrono::seconds(3);
constexpr Nanoseconds kBeatAgain = std::chrono::seconds(1);
constexpr std::string_view kOwnerFile = "cluster-owner";
constexpr std::size_t kOwnerDigits = 32;  // 128 bits

std::string text_in(const Node& map, std::string_view key) {
  const Node* node = map.find(key);
  const auto* text = node != nullptr ? node->as<std::string>() : nullptr;
  return text != nullptr ? *text : std::string();
}

double number_in(const Node& map, std::string_view key) {
  const Node* node = map.find(key);
  if (node == nullptr) return 0;
  if (const auto* whole = node->as<std::int64_t>()) return static_cast<double>(*whole);
  const auto* real = node->as<double>();
  return real != nullptr ? *real : 0;
}

bool is_owner(std::string_view text) {
  return text.size() == kOwnerDigits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// The members of `:instances` that no entry of `:kron:hosts` stands for.
std::vector<std::string> foreign_instances(const RedisValue& entries, const RedisValue& members) {
  std::set<std::string> ours;
  for (std::size_t i = 1; i < entries.items.size(); i += 2) {
    const Result<HostEntry> entry = parse_host_entry(entries.items[i].text);
    if (entry) ours.insert(instance_member(entry->host, entry->ip));
  }
  std::vector<std::string> foreign;
  for (const RedisValue& member : members.items) {
    if (ours.contains(member.text)) continue;
    const Result<InstanceName> name = parse_instance_member(member.text);
    foreign.push_back(name ? name->host + " (" + name->ip + ")" : quoted(member.text, 200));
  }
  return foreign;
}

}  // namespace

HostEntryText text_of(const HostEntry& entry) {
  JsonWriter json;
  json.begin_map().member("owner", entry.owner).member("host", entry.host).member("ip", entry.ip);
  json.member("version", entry.version).member("mode", entry.mode == Dialect::seed ? "seed" : "cronken");
  json.key("clock_offset").real(entry.clock_offset);
  json.key("draining").boolean(entry.is_draining);
  json.key("runs").integer(static_cast<std::int64_t>(entry.runs));
  // The script looks for the owner at the beginning and for the beat at the end.
  return {json.take() + ",\"beat\":", "}"};
}

Result<HostEntry> parse_host_entry(std::string_view text) {
  const Result<Node> node = parse_json(text);
  if (!node) return fail(node.error());
  if (node->as<Node::Map>() == nullptr) return fail(Code::invalid, "the entry of a host must be a map");
  HostEntry entry;
  entry.owner = text_in(*node, "owner");
  entry.host = text_in(*node, "host");
  entry.ip = text_in(*node, "ip");
  entry.version = text_in(*node, "version");
  entry.mode = text_in(*node, "mode") == "cronken" ? Dialect::cronken : Dialect::seed;
  entry.clock_offset = number_in(*node, "clock_offset");
  const Node* draining = node->find("draining");
  entry.is_draining = draining != nullptr && draining->as<bool>() != nullptr && *draining->as<bool>();
  entry.runs = static_cast<std::uint64_t>(std::clamp(number_in(*node, "runs"), 0.0, 1e9));
  entry.beat = number_in(*node, "beat");
  return entry;
}

std::string instance_member(std::string_view host, std::string_view ip) {
  return JsonWriter().begin_map().member("host", host).member("ip", ip).end_map().take();
}

Result<InstanceName> parse_instance_member(std::string_view member) {
  const Result<Node> node = parse_json(member);
  if (!node) return fail(node.error());
  return InstanceName{text_in(*node, "host"), text_in(*node, "ip")};
}

Result<std::string> cluster_owner(FileSystem& file_system, const std::string& state_dir) {
  const Result<std::unique_ptr<Directory>> directory = file_system.open_directory(state_dir);
  if (!directory) return fail(directory.error());
  constexpr std::size_t kMost = 256;
  const auto read = [&]() -> Result<std::string> {
    const Result<FileContents> file = (*directory)->read(kOwnerFile, kMost);
    if (!file) return fail(file.error());
    const std::string owner(trimmed(file->bytes));
    if (is_owner(owner)) return owner;
    return fail(Code::invalid, entry_path(state_dir, kOwnerFile) +
                                   " does not hold 32 hex digits; remove it, and this "
                                   "host joins the cluster anew");
  };
  Result<std::string> found = read();
  if (found || found.error().code != Code::not_found) return found;
  const std::string owner = (random_hex() + random_hex()).substr(0, kOwnerDigits);
  const std::string bytes = owner + "\n";
  const ReplaceResult made = durable_replace(
      file_system, **directory, {.name = kOwnerFile, .bytes = bytes, .mode = 0600, .if_taken = IfTaken::refuse});
  if (made.status) return owner;
  // Somebody else was faster: his is ours.
  if (made.status.error().code == Code::conflict) return read();
  return fail(made.status.error());
}

Hosts::Hosts(World world, Options options) : world_(std::move(world)), options_(std::move(options)) {}

Hosts::~Hosts() = default;

Result<Hosts::Beat> Hosts::beat(Link& link, const Keys& keys, const Options& options, const Present& present,
                                const std::string& instance) {
  const HostEntryText entry = text_of(HostEntry{.owner = options.owner,
                                                .host = options.host,
                                                .ip = options.ip,
                                                .version = options.version,
                                                .mode = options.mode,
                                                .clock_offset = present.clock_offset,
                                                .is_draining = present.is_draining,
                                                .runs = present.runs});
  const JoinCall join{.host = options.host,
                      .owner = options.owner,
                      .instance = instance,
                      .free_after = options.stale,
                      .head = entry.head,
                      .tail = entry.tail,
                      .member = instance_member(options.host, options.ip)};
  std::vector<TimedReply> replies =
      link.ask({join.command(keys), {"HGETALL", keys.hosts()}, {"ZRANGE", keys.instances(), "0", "-1"}}, kBeatTimeout);
  for (const TimedReply& reply : replies) {
    if (const Result<RedisValue> value = value_of(reply.reply); !value) return fail(value.error());
  }
  const Result<JoinAnswer> joined = JoinAnswer::parse(replies[0].reply.value);
  if (!joined) return fail(joined.error());
  if (joined->instance.empty()) {
    return fail(Code::conflict, "too many krond of the host name " + quoted(options.host) + "; give this one --host");
  }
  return Beat{joined->instance, foreign_instances(replies[1].reply.value, replies[2].reply.value)};
}

Nanoseconds Hosts::tick(Nanoseconds now) {
  if (!next_) next_ = now;
  if (has_left_) return now + options_.cadence;
  // Who drains a host waits to see it.
  const Present present = world_.present();
  if (present.is_draining != std::exchange(was_draining_, present.is_draining)) next_ = now;
  if (is_busy_) return now + kBeatAgain;
  if (now < *next_) return *next_;
  is_busy_ = true;
  const auto work = [link = &world_.link, keys = &world_.keys, options = options_, present, instance = instance_,
                     to_loop = world_.aside.to_loop, alive = std::weak_ptr<Alive>(alive_), this, now] {
    Result<Beat> beaten = beat(*link, *keys, options, present, instance);
    to_loop([alive, this, beaten = std::move(beaten), now] {
      if (alive.lock()) take(beaten, now);
    });
  };
  if (!world_.aside.run(work)) {
    is_busy_ = false;
    next_ = now + kBeatAgain;
  }
  return is_busy_ ? now + kBeatAgain : *next_;
}

void Hosts::take(const Result<Beat>& beat, Nanoseconds begun) {
  is_busy_ = false;
  if (!beat) {
    next_ = begun + kBeatAgain;
    // The link says that Redis is away; what Redis itself refuses is said here.
    if (beat.error().code != Code::unreachable) {
      world_.log.warning("cluster_heartbeat_failed", {{"reason", beat.error().message}});
    }
    return;
  }
  next_ = begun + options_.cadence;
  foreign_ = beat->foreign;
  if (beat->instance != instance_) {
    const bool is_change = !instance_.empty();
    instance_ = beat->instance;
    if (is_change || instance_ != options_.host) {
      world_.log.warning("cluster_instance_name",
                         {{"host", options_.host},
                          {"instance", instance_},
                          {"reason", is_change ? "another krond took the name while this one was away"
                                               : "another krond of this host name is in the cluster"}});
    }
    world_.on_name(instance_);
  }
  if (options_.mode != Dialect::seed) return;
  for (const std::string& instance : foreign_) {
    world_.log.error("cluster_foreign_instance",
                     {{"instance", instance},
                      {"reason",
                       "a cronken shares this Redis, and its reaper breaks runs of krond in seed mode; start "
                       "krond with --cluster-compat cronken"}});
  }
}

void Hosts::leave(Nanoseconds timeout) {
  if (instance_.empty()) return;
  const LeaveCall call{.host = options_.host,
                       .owner = options_.owner,
                       .instance = instance_,
                       .member = instance_member(options_.host, options_.ip)};
  world_.link.ask({call.command(world_.keys)}, timeout);
  instance_.clear();
  has_left_ = true;
}

}  // namespace kron::cluster
