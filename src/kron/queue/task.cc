#include "kron/queue/task.h"

#include <algorithm>

#include "kron/base/duration.h"
#include "kron/base/sha256.h"
#include "kron/base/text.h"
#include "kron/json/document.h"
#include "kron/json/writer.h"
#include "kron/queue/json_glance.h"
#include "kron/queue/opaque_json.h"

namespace kron {
namespace {

bool is_letter_or_digit(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool is_name(std::string_view text, std::size_t most) {
  return !text.empty() && text.size() <= most && is_letter_or_digit(text.front()) &&
         std::ranges::all_of(text, [](char c) { return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-'; });
}

Status check_name(std::string_view text, std::size_t most, std::string_view what, std::string field) {
  if (is_name(text, most)) return {};
  return fail(Code::invalid,
              "invalid " + std::string(what) + " " + quoted(text) + ": use 1 to " + std::to_string(most) +
                  " letters, digits, '.', '_' and '-', the first a letter or digit",
              std::move(field));
}

bool is_line(std::string_view text) {
  return text.size() <= kMostKeyBytes && is_valid_utf8(text) &&
         std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

Status check_line(std::string_view text, std::string_view what, std::string field) {
  if (is_line(text)) return {};
  return fail(Code::invalid,
              "invalid " + std::string(what) + " " + quoted(text) + ": use at most " + std::to_string(kMostKeyBytes) +
                  " bytes of UTF-8 without control characters",
              std::move(field));
}

Status check_duration(Seconds duration, Seconds least, std::string field) {
  if (duration >= least && duration <= kMostTaskDuration) return {};
  return fail(Code::invalid,
              "a duration of " + std::to_string(duration.count()) + " seconds is out of range; use " +
                  duration_text(least) + " to " + duration_text(kMostTaskDuration),
              std::move(field));
}

Status check_number(int number, int least, int most, std::string field) {
  if (number >= least && number <= most) return {};
  return fail(Code::invalid,
              std::to_string(number) + " is out of range; use " + std::to_string(least) + " to " + std::to_string(most),
              std::move(field));
}

Status check_numbers(const NewTask& task) {
  if (Status good = check_number(task.priority, -kMostPriority, kMostPriority, "priority"); !good) return good;
  if (Status good = check_number(task.retry.max_attempts, 1, kMostAttempts, "maxAttempts"); !good) return good;
  if (Status good = check_duration(task.retry.backoff, Seconds(0), "backoff"); !good) return good;
  if (Status good = check_duration(task.retry.most_backoff, Seconds(0), "maxBackoff"); !good) return good;
  if (task.timeout) {
    if (Status good = check_duration(*task.timeout, Seconds(1), "timeout"); !good) return good;
  }
  if (task.run_at && (*task.run_at < kFirstInstant || *task.run_at > kLastInstant)) {
    return fail(Code::invalid, "runAt is out of range; use a time from 1970 to 2199", "runAt");
  }
  return {};
}

// Leaves `data` without blanks between its tokens. No tree is built of it but where only that tells what it is.
Status parse_payload(std::string& data) {
  const JsonGlance glance = glance_at_json(data, kMostPayloadDepth);
  if (glance == JsonGlance::compact) return {};
  if (glance == JsonGlance::unsure) {
    const auto parsed = parse_json(data, {kMostPayloadBytes, kMostPayloadDepth});
    if (!parsed) return fail(Code::invalid, parsed.error().message, "payload", parsed.error().column);
  }
  data = without_blanks(data);
  return {};
}

}  // namespace

std::string exec_id_of(std::string_view task_id, std::uint64_t token) {
  return std::string(task_id) + "." + std::to_string(token);
}

std::optional<std::string_view> task_of_exec_id(std::string_view exec_id) {
  const std::size_t dot = exec_id.rfind('.');
  if (dot == std::string_view::npos || dot + 1 == exec_id.size() || exec_id.size() - dot > 21) return std::nullopt;
  const auto digits = exec_id.substr(dot + 1);
  if (!std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; })) return std::nullopt;
  const auto task_id = exec_id.substr(0, dot);
  if (!is_name(task_id, kMostIdBytes)) return std::nullopt;
  return task_id;
}

Status check_task_id(std::string_view id) { return check_name(id, kMostIdBytes, "task id", "taskId"); }

Status check_task_type(std::string_view type) { return check_name(type, kMostTypeBytes, "task type", "type"); }

Status check_payload_size(std::string_view data) {
  if (data.size() > kMostPayloadBytes) {
    return fail(Code::invalid,
                "a payload of " + std::to_string(data.size()) + " bytes is too large; the most is " +
                    std::to_string(kMostPayloadBytes) + ": keep the data elsewhere and submit where it is",
                "payload");
  }
  return {};
}

Status check_worker_name(std::string_view name) {
  if (name.empty()) return fail(Code::invalid, "the worker has no name; give one that tells it apart", "worker");
  return check_line(name, "worker name", "worker");
}

Result<NewTask> checked(NewTask task) {
  // The type first: an id may have been made from it.
  if (Status good = check_task_type(task.type); !good) return fail(good.error());
  if (Status good = check_task_id(task.id); !good) return fail(good.error());
  if (Status good = check_line(task.unique_key, "unique key", "uniqueKey"); !good) return fail(good.error());
  if (Status good = check_numbers(task); !good) return fail(good.error());
  if (Status good = check_payload_size(task.data); !good) return fail(good.error());
  if (!task.data_is_parsed.value) {
    if (Status good = parse_payload(task.data); !good) return fail(good.error());
    task.data_is_parsed = {true};
  }
  return task;
}

Result<std::vector<NewTask>> checked_follow_ups(std::vector<NewTask> tasks) {
  if (tasks.size() > kMostFollowUps) {
    return fail(Code::invalid,
                std::to_string(tasks.size()) + " follow-ups are too many; the most is " +
                    std::to_string(kMostFollowUps) + ": let one of them submit the rest",
                "followUps");
  }
  std::size_t bytes = 0;
  for (NewTask& task : tasks) {
    auto good = checked(std::move(task));
    if (!good) return fail(good.error());
    task = *std::move(good);
    bytes += task.data.size();
  }
  if (bytes > kMostFollowUpBytes) {
    return fail(Code::invalid,
                "follow-ups with " + std::to_string(bytes) + " bytes of payload are too large; the most is " +
                    std::to_string(kMostFollowUpBytes),
                "followUps");
  }
  return tasks;
}

std::string task_data_of(const std::optional<std::string>& input) {
  if (!input) return "null";
  return parse_json(*input) ? *input : JsonWriter().text(*input).take();
}

std::string scheduled_task_id(std::string_view job_name, std::string_view identity, std::string_view period_id) {
  constexpr std::size_t kNameBytes = 60;
  constexpr std::size_t kHexDigits = 20;
  std::string id(job_name.substr(0, kNameBytes));
  std::ranges::replace_if(
      id, [](char c) { return !is_letter_or_digit(c) && c != '.' && c != '-'; }, '-');
  id += "-" + hex(sha256({identity, "\n", period_id})).substr(0, kHexDigits);
  // A name that begins with a mark, or is empty, would make an id that the rules refuse.
  if (!is_letter_or_digit(id.front())) id.front() = 't';
  return id;
}

}  // namespace kron
