#include "cluster_values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "answer_text.h"
#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/cluster/rundata.h"
#include "kron/json/fields.h"

namespace kron::cli {
namespace {

// The longest definition or blob that is read; more is shown as unreadable.
constexpr JsonLimits kBlobLimits{std::size_t{4} << 20, 64};
constexpr double kLastSecond = 253402300799.0;  // 9999-12-31T23:59:59Z
constexpr double kMostSeconds = 1e9;

std::string escaped(unsigned char byte) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "\\x%02x", byte);
  return text.data();
}

const Node* member_of(const Node& node, std::string_view map, std::string_view key) {
  const Node* found = node.find(map);
  return found == nullptr ? nullptr : found->find(key);
}

}  // namespace

Result<Node> lenient_json(std::string_view text) { return parse_json(cluster::as_utf8(text), kBlobLimits); }

std::string text_of(const RedisReply& reply) {
  if (!reply.is_reply() || reply.value.kind == RedisValue::Kind::array) return {};
  return reply.value.text;
}

std::int64_t integer_of(const RedisReply& reply) { return reply.is_reply() ? reply.value.integer : 0; }

std::optional<double> number_of(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::string time_text(std::optional<double> seconds) {
  if (!seconds || *seconds < 0 || *seconds > kLastSecond) return {};
  return rfc3339(instant_of(static_cast<std::int64_t>(*seconds)));
}

std::string seconds_text(std::optional<double> seconds) {
  if (!seconds || std::abs(*seconds) > kMostSeconds) return {};
  const double size = std::abs(*seconds);
  const auto rounded = std::chrono::milliseconds(std::llround(size * (size < 10 ? 1000 : 1)) * (size < 10 ? 1 : 1000));
  return (*seconds < 0 && rounded.count() > 0 ? "-" : "") + duration_text(rounded);
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  auto size = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; size >= 1024 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", size, kUnits[unit]);
  return text.data();
}

ClusterRun run_of(std::string id, std::string_view blob) {
  ClusterRun run{.id = std::move(id)};
  const auto data = blob.size() > kBlobLimits.size ? fail(Code::invalid, "too long") : cluster::parse_rundata(blob);
  if (!data) return run;
  run.job = data->job;
  run.host = data->host;
  run.status = cluster::name_of(data->status);
  run.started = number_of(data->start_time);
  run.duration = data->duration;
  run.code = data->retcode;
  run.output = data->output;
  return run;
}

std::string result_of(const ClusterRun& run) {
  if (run.status.empty()) return "unreadable";
  if (run.is_running() || run.status == "frozen") return run.status;
  if (!run.code) return run.status + " (exit unknown)";
  return *run.code < 0 ? "signal " + std::to_string(-*run.code) : "exit " + std::to_string(*run.code);
}

void write_json(JsonWriter& json, const ClusterRun& run) {
  const auto number = [&json](std::string_view key, std::optional<double> value) {
    json.key(key);
    value ? json.real(*value) : json.null();
  };
  json.begin_map().member("runId", run.id).member("job", run.job).member("host", run.host);
  json.member("status", run.status.empty() ? "unreadable" : run.status);
  json.key("exitCode");
  run.code ? json.integer(*run.code) : json.null();
  json.member("startedAt", time_text(run.started));
  number("duration", run.duration);
  number("at", run.at > 0 ? std::optional(run.at) : std::nullopt);
  json.end_map();
}

void print_cluster_run(const ClusterRun& run, const ScreenTimes& times) {
  print_field("run", run.id);
  print_field("job", run.job);
  print_field("host", run.host);
  print_field("result", result_of(run));
  print_field("started", times.near(time_text(run.started)));
  print_field("took", seconds_text(run.duration));
}

bool is_run_id(std::string_view text) {
  return text.size() == 32 &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string shown_line(std::string_view line) {
  std::string shown;
  while (!line.empty()) {
    const std::size_t length = utf8_length(line);
    const auto byte = static_cast<unsigned char>(line.front());
    const bool is_c1 = length == 2 && byte == 0xC2 && static_cast<unsigned char>(line[1]) < 0xA0;
    const bool is_plain = length > 0 && !is_c1 && (byte >= 0x20 || byte == '\t') && byte != 0x7F;
    const std::size_t taken = std::max<std::size_t>(length, 1);
    for (const char c : line.substr(0, taken)) {
      shown += is_plain ? std::string(1, c) : escaped(static_cast<unsigned char>(c));
    }
    line.remove_prefix(taken);
  }
  return shown;
}

std::string schedule_text(const Node& definition) {
  const Node* args = definition.find("cron_args");
  const auto* map = args == nullptr ? nullptr : args->as<Node::Map>();
  if (map == nullptr) return {};
  if (std::string text = text_in(*args, "cronstring"); !text.empty()) return text;
  std::string text;
  for (const Node::Member& member : *map) {
    if (member.value.is_null()) continue;
    text += (text.empty() ? "" : " ") + member.key + "=" + scalar_text(member.value).value_or("?");
  }
  return text;
}

std::string lock_text(const Node& definition) {
  const Node* lock = member_of(definition, "job_args", "lock");
  if (lock == nullptr) return {};
  if (const bool* own = lock->as<bool>()) return *own ? "its name" : "none";
  const auto text = scalar_text(*lock);
  return !text || text->empty() ? "none" : *text;
}

std::string problem_in(const Node& definition) {
  const Node* problem = member_of(definition, "job_state", "validation_errors");
  return problem == nullptr ? "" : scalar_text(*problem).value_or("");
}

}  // namespace kron::cli
