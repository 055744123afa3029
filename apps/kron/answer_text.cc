#include "answer_text.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/json/fields.h"

namespace kron::cli {
namespace {

constexpr std::size_t kMostBytesShown = 400;

// Letters, not bytes.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// Why a run did not come to an end of its own; empty when it did, or a signal is all there is to tell: the exit code
// says that. `cannot execute /usr/bin/x: No such file or directory` is `no such file: /usr/bin/x`.
std::string failure_of(std::string_view detail) {
  constexpr std::string_view kCannotExecute = "cannot execute ";
  constexpr std::string_view kNotThere = ": No such file or directory";
  if (detail.starts_with(kCannotExecute) && detail.ends_with(kNotThere)) {
    detail.remove_prefix(kCannotExecute.size());
    detail.remove_suffix(kNotThere.size());
    return "no such file: " + std::string(detail);
  }
  constexpr std::array<std::string_view, 3> kSignals{"ended by signal", "killed", "terminated"};
  const bool is_signal = std::ranges::any_of(kSignals, [&](std::string_view word) { return detail.starts_with(word); });
  return is_signal ? "" : std::string(detail);
}

std::string exit_of(const Node& run) {
  const std::string code = text_in(run, "exitCode");
  if (code.empty()) return "exit unknown";
  return "exit " + code + (run.find("failed") == nullptr ? "" : has_failed(run) ? " (failed)" : " (fine)");
}

double real_in(const Node& map, std::string_view key) {
  const Node* found = map.find(key);
  const auto* real = found == nullptr ? nullptr : found->as<double>();
  return real != nullptr ? *real : static_cast<double>(number_in(map, key));
}

// With one decimal of the unit that suits them.
std::string bytes_text(std::int64_t bytes) {
  constexpr std::array<std::string_view, 4> kUnits{"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return std::to_string(bytes) + " bytes";
  double amount = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < kUnits.size(); ++unit) amount /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s", amount, kUnits[unit].data());
  return text;
}

// What a run used, or nothing when nobody knows.
std::string usage_of(const Node& run) {
  if (run.find("cpuUserSeconds") == nullptr) return "";
  char text[96];
  std::snprintf(text, sizeof text, "CPU %.3fs (%.3fs of it in the kernel)",
                real_in(run, "cpuUserSeconds") + real_in(run, "cpuSystemSeconds"), real_in(run, "cpuSystemSeconds"));
  std::string usage = text;
  if (number_in(run, "memoryBytes") > 0) usage += ", memory " + bytes_text(number_in(run, "memoryBytes"));
  if (number_in(run, "readBytes") > 0) usage += ", read " + bytes_text(number_in(run, "readBytes"));
  if (number_in(run, "writtenBytes") > 0) usage += ", wrote " + bytes_text(number_in(run, "writtenBytes"));
  return usage;
}

}  // namespace

std::string or_dash(std::string text) { return text.empty() ? "-" : text; }

std::string place_in(const Node& problem) {
  const std::string file = text_in(problem, "file");
  return number_in(problem, "line") == 0 ? file
                                         : file + ":" + text_in(problem, "line") + ":" + text_in(problem, "column");
}

std::string duration_of(const Node& run) {
  const auto start = parse_rfc3339(text_in(run, "startedAt"));
  const auto end = parse_rfc3339(text_in(run, "endedAt"));
  return start && end && *end >= *start ? duration_text(*end - *start) : "";
}

std::string text_in(const Node& map, std::string_view key) {
  const Node* found = map.find(key);
  return found == nullptr ? "" : scalar_text(*found).value_or("");
}

std::int64_t number_in(const Node& map, std::string_view key) {
  const Node* found = map.find(key);
  const auto* number = found == nullptr ? nullptr : found->as<std::int64_t>();
  return number == nullptr ? 0 : *number;
}

bool flag_in(const Node& map, std::string_view key) {
  const Node* found = map.find(key);
  const bool* flag = found == nullptr ? nullptr : found->as<bool>();
  return flag != nullptr && *flag;
}

const Node::List& list_in(const Node& map, std::string_view key) {
  static const Node::List kNone;
  const Node* found = map.find(key);
  const auto* list = found == nullptr ? nullptr : found->as<Node::List>();
  return list == nullptr ? kNone : *list;
}

std::string harmless(std::string_view text) {
  const bool is_plain =
      is_valid_utf8(text) && std::ranges::none_of(text, [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; });
  return is_plain ? std::string(text) : quoted(text, kMostBytesShown);
}

void print_field(std::string_view name, std::string_view value) {
  if (value.empty()) return;
  std::printf("%-13.*s %s\n", static_cast<int>(name.size()), name.data(), harmless(value).c_str());
}

void Table::print() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(harmless(row[i])));
  }
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string cell = harmless(row[i]);
      line += cell + std::string(widths[i] - width_of(cell) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    std::printf("%s\n", line.c_str());
  }
}

bool has_failed(const Node& run) {
  const std::string code = text_in(run, "exitCode");
  if (code.empty()) return true;
  return run.find("failed") != nullptr ? flag_in(run, "failed") : code != "0";
}

std::string result_of(const Node& run) {
  if (text_in(run, "state") == "running") return "running";
  const std::string outcome = text_in(run, "outcome");
  const std::string reason = text_in(run, "reason");
  if (const Node* report = run.find("passedOver")) return text_in(*report, "count") + " passed over";
  if (!text_in(run, "runId").empty() && outcome == "executed") {
    const std::string failure = failure_of(text_in(run, "detail"));
    return failure.empty() ? exit_of(run) : failure;
  }
  if (const std::string clause = text_in(run, "clause"); !clause.empty()) return reason + " (" + clause + ")";
  return reason.empty() || reason == "none" ? outcome : outcome + " (" + reason + ")";
}

std::string time_of(const Node& run) {
  if (const Node* report = run.find("passedOver")) return text_in(*report, "last");
  for (const char* key : {"startedAt", "chosenTime", "periodId", "endedAt"}) {
    if (std::string time = text_in(run, key); !time.empty()) return time;
  }
  return "";
}

std::string awaited_by(const Node& waiting) {
  if (text_in(waiting, "for") != "slot") return "the run before it";
  const std::string pool = text_in(waiting, "pool");
  return pool.empty() ? "a slot" : "a slot of " + pool;
}

void print_run(const Node& run, const ScreenTimes& times) {
  print_field("run", text_in(run, "runId"));
  print_field("job", text_in(run, "job"));
  print_field("host", text_in(run, "host"));
  const std::string result = result_of(run);
  print_field("result", result);
  if (!result.empty() && result == failure_of(text_in(run, "detail")))
    print_field("exit code", text_in(run, "exitCode"));
  print_field("attempts", text_in(run, "attempts"));
  print_field("trigger", text_in(run, "trigger"));
  print_field("period", times.at(text_in(run, "periodId")));
  print_field("chosen", times.near(text_in(run, "chosenTime")));
  print_field("started", times.near(text_in(run, "startedAt")));
  print_field("ended", times.near(text_in(run, "endedAt")));
  print_field("took", duration_of(run));
  print_field("used", usage_of(run));
  print_field("detail", text_in(run, "detail"));
  if (number_in(run, "pid") > 0) print_field("PID", text_in(run, "pid"));
  if (number_in(run, "outputBytes") > 0) print_field("output", text_in(run, "outputBytes") + " bytes");
}

}  // namespace kron::cli
