#include "kron/cluster/rundata.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "kron/base/text.h"
#include "kron/json/document.h"
#include "kron/json/writer.h"

namespace kron::cluster {
namespace {

constexpr std::array<std::string_view, 4> kStatusNames = {"running", "success", "fail", "frozen"};
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
// cronken keeps a kilobyte of output in a blob; a foreign one may hold what it likes.
constexpr JsonLimits kBlobLimits{.size = std::size_t{16} << 20, .depth = 16};

std::string json_text(const std::string& text) { return JsonWriter().text(text).take(); }

// A number, or a text that holds one.
std::optional<double> blob_number(const Node& map, std::string_view key) {
  const Node* value = map.find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* integer = value->as<std::int64_t>()) return static_cast<double>(*integer);
  if (const auto* real = value->as<double>()) return *real;
  const auto* text = value->as<std::string>();
  if (text == nullptr) return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::string blob_text(const Node& map, std::string_view key) {
  const Node* value = map.find(key);
  const auto* text = value == nullptr ? nullptr : value->as<std::string>();
  return text == nullptr ? std::string() : *text;
}

// Its spelling, if it is a text; else the number with microseconds.
std::string blob_start_time(const Node& map) {
  const Node* value = map.find("start_time");
  if (value == nullptr) return {};
  if (const auto* text = value->as<std::string>()) return *text;
  if (const auto* integer = value->as<std::int64_t>()) return std::to_string(*integer) + ".000000";
  const auto* real = value->as<double>();
  if (real == nullptr || !(std::abs(*real) < 1e12)) return {};
  std::array<char, 32> text{};
  const int size = std::snprintf(text.data(), text.size(), "%.6f", *real);
  return {text.data(), static_cast<std::size_t>(size)};
}

}  // namespace

std::string_view name_of(RunStatus status) { return kStatusNames.at(static_cast<std::size_t>(status)); }

std::string_view result_of(RunStatus status) { return status == RunStatus::success ? "success" : "fail"; }

BlobParts running_blob(Dialect dialect, std::string_view host, std::string_view job) {
  BlobParts parts;
  parts.head = R"({"job_name":)" + json_text(std::string(job)) + R"(,"start_time":")";
  parts.tail = R"(","host":)" + json_text(std::string(host)) + R"(,"status":"running")";
  parts.tail += dialect == Dialect::seed ? R"(,"retcode":null,"output":null,"duration":null})" : "}";
  return parts;
}

BlobParts submitted_blob(std::string_view host, std::string_view job, std::string_view task_id) {
  BlobParts parts;
  parts.head = R"({"job_name":)" + json_text(std::string(job)) + R"(,"start_time":")";
  parts.tail = R"(","host":)" + json_text(std::string(host)) + R"(,"status":"success","retcode":0,"output":)" +
               json_text("submitted as task " + std::string(task_id) + "\n") + R"(,"duration":0.000000})";
  return parts;
}

BlobParts final_blob(Dialect dialect, const FinalRun& run) {
  BlobParts parts;
  parts.head = R"({"job_name":)" + json_text(run.job) + R"(,"start_time":)" + json_text(run.start_time) +
               R"(,"host":)" + json_text(run.host) + R"(,"status":")" + std::string(name_of(run.status)) + '"';
  if (run.retcode) {
    parts.head += R"(,"retcode":)" + std::to_string(*run.retcode);
  } else if (dialect == Dialect::seed) {
    parts.head += R"(,"retcode":null)";
  }
  parts.head += R"(,"output":)" + json_text(run.output) + R"(,"duration":)";
  parts.tail = "}";
  return parts;
}

RunStatus status_of(const RunExit& exit) {
  const bool has_ended = exit.code && !exit.never_ran;
  return has_ended && !counts_as_failed(exit.failed, *exit.code) ? RunStatus::success : RunStatus::fail;
}

std::optional<int> retcode_of(const RunExit& exit) {
  return exit.signal != 0 ? std::optional(-exit.signal) : exit.code;
}

Result<RunData> parse_rundata(std::string_view blob) {
  const Result<Node> read = parse_json(is_valid_utf8(blob) ? std::string(blob) : as_utf8(blob), kBlobLimits);
  if (!read) return fail(read.error());
  RunData run;
  run.job = blob_text(*read, "job_name");
  if (run.job.empty()) return fail(Code::invalid, "the rundata names no job");
  const std::string status = blob_text(*read, "status");
  std::size_t which = 0;
  while (which < kStatusNames.size() && kStatusNames.at(which) != status) ++which;
  if (which == kStatusNames.size()) return fail(Code::invalid, "the rundata has an unknown status " + quoted(status));
  run.status = static_cast<RunStatus>(which);
  run.host = blob_text(*read, "host");
  run.start_time = blob_start_time(*read);
  const std::optional<double> retcode = blob_number(*read, "retcode");
  if (retcode && std::abs(*retcode) < 1e9) run.retcode = static_cast<int>(*retcode);
  run.duration = blob_number(*read, "duration");
  run.output = blob_text(*read, "output");
  return run;
}

std::optional<std::chrono::sys_time<Nanoseconds>> time_of(std::string_view start_time) {
  std::int64_t seconds = 0;
  const char* const end = start_time.data() + start_time.size();
  auto [at, error] = std::from_chars(start_time.data(), end, seconds);
  constexpr std::int64_t kMost = 9'000'000'000;  // what nanoseconds in 64 bits can count
  if (error != std::errc() || seconds < 0 || seconds > kMost) return std::nullopt;
  Nanoseconds fraction{0};
  if (at != end) {
    if (*at != '.') return std::nullopt;
    std::int64_t unit = 100'000'000;
    for (++at; at != end; ++at, unit /= 10) {
      if (*at < '0' || *at > '9') return std::nullopt;
      fraction += Nanoseconds((*at - '0') * unit);
    }
  }
  return std::chrono::sys_time<Nanoseconds>(std::chrono::seconds(seconds) + fraction);
}

std::string start_time_of(std::chrono::sys_time<Nanoseconds> time) {
  const auto micros = std::chrono::floor<std::chrono::microseconds>(time.time_since_epoch()).count();
  std::array<char, 40> text{};
  const int size = std::snprintf(text.data(), text.size(), "%lld.%06lld", static_cast<long long>(micros / 1'000'000),
                                 static_cast<long long>(micros % 1'000'000));
  return {text.data(), static_cast<std::size_t>(size)};
}

std::string_view last_lines(std::string_view text, std::size_t most_lines, std::size_t most_bytes) {
  if (most_lines == 0) return {};
  std::size_t from = text.size();
  for (std::size_t lines = 0; lines < most_lines && from > 0; ++lines) {
    // The newline before `from` ends the line that we look for the start of.
    const std::size_t newline = from == 1 ? std::string_view::npos : text.rfind('\n', from - 2);
    from = newline == std::string_view::npos ? 0 : newline + 1;
  }
  const std::string_view lines = text.substr(from);
  return lines.size() <= most_bytes ? lines : lines.substr(lines.size() - most_bytes);
}

std::string as_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t length = utf8_length(bytes);
    text += length == 0 ? kReplacement : bytes.substr(0, length);
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return text;
}

}  // namespace kron::cluster
