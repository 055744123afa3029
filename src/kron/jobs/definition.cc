#include "kron/jobs/definition.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "kron/base/text.h"
#include "kron/core/schedule_expression.h"
#include "kron/core/words.h"

namespace kron::jobs {
namespace {

constexpr std::size_t kMostNameBytes = 200;

struct SizeUnit {
  char letter;
  std::uint64_t bytes;
};
constexpr std::array kSizeUnits{SizeUnit{'t', std::uint64_t{1} << 40}, SizeUnit{'g', std::uint64_t{1} << 30},
                                SizeUnit{'m', std::uint64_t{1} << 20}, SizeUnit{'k', std::uint64_t{1} << 10}};

constexpr std::array kFailsOnWords{
    Word{FailsOn::exit_code, "exit"},
    Word{FailsOn::standard_error, "stderr"},
    Word{FailsOn::nothing, "nothing"},
};

bool is_name_end(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

}  // namespace

std::string_view name_of(Spelling spelling) {
  switch (spelling) {
    case Spelling::kron:
      return "kron";
    case Spelling::yaml:
      return "yaml";
    case Spelling::crontab:
      return "cron";
    case Spelling::cronken:
      return "cronken";
  }
  return "kron";
}

std::string_view name_of(FailsOn on) { return word_of(on, kFailsOnWords); }
Result<FailsOn> parse_fails_on(std::string_view text) {
  return parse_word(text, kFailsOnWords, "cause of failure", "fails_on");
}

JobDefinition::JobDefinition() {
  static const auto kPlain = std::make_shared<const RunOptions>();
  static const auto kNowhere = std::make_shared<const std::string>();
  options = kPlain;
  file = kNowhere;
}

bool JobDefinition::operator==(const JobDefinition& other) const {
  const bool has_same_pause = pause == other.pause || (pause && other.pause && *pause == *other.pause);
  return job == other.job && action == other.action && has_same_pause &&
         (options == other.options || *options == *other.options);
}

std::shared_ptr<const std::string> kept_schedule_text(const std::string& text, const Schedule& schedule) {
  return text == expression_of(schedule) ? nullptr : std::make_shared<const std::string>(text);
}

std::optional<std::string> schedule_as_written(const JobDefinition& definition) {
  if (definition.schedule_text) return *definition.schedule_text;
  if (definition.spelling == Spelling::cronken) return std::nullopt;
  return expression_of(definition.job.schedule);
}

bool submits_task(const JobDefinition& definition) { return std::holds_alternative<SubmitTask>(definition.action); }

const std::string& command_of(const JobDefinition& definition) {
  static const std::string kNone;
  const auto* command = std::get_if<Command>(&definition.action);
  return command != nullptr ? command->text : kNone;
}

std::shared_ptr<const RunOptions> OptionsPool::share(RunOptions options) {
  for (const auto& kept : recent_) {
    if (*kept == options) return kept;
  }
  auto made = std::make_shared<const RunOptions>(std::move(options));
  if (recent_.size() < kKept) {
    recent_.push_back(made);
  } else {
    recent_[next_] = made;
    next_ = (next_ + 1) % kKept;
  }
  return made;
}

bool is_job_name(std::string_view name) {
  if (name.empty() || name.size() > kMostNameBytes || !is_name_end(name.front()) || !is_name_end(name.back())) {
    return false;
  }
  return std::ranges::all_of(name,
                             [](char c) { return is_name_end(c) || c == '.' || c == '_' || c == '/' || c == '-'; });
}

Result<std::uint32_t> parse_percent(std::string_view text, std::uint32_t most) {
  std::uint32_t percent = 0;
  const char* const last = text.data() + text.size();
  const auto [end, status] = std::from_chars(text.data(), last, percent);
  const bool is_whole = status == std::errc() && std::string_view(end, static_cast<std::size_t>(last - end)) == "%";
  if (is_whole && percent >= 1 && percent <= most) return percent;
  return fail(Code::invalid,
              quoted(text) + " is no share of a processor; expected 1% to " + std::to_string(most) +
                  "%, such as 50%, or 200% for two",
              "", 1);
}

Result<std::uint64_t> parse_size(std::string_view text) {
  const auto bad = [&](std::string problem, std::size_t at) {
    return fail(Code::invalid, std::move(problem) + "; expected a size such as 512, 64k, 2M or 1G", "", at + 1);
  };
  std::uint64_t number = 0;
  std::size_t at = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    const auto digit = static_cast<std::uint64_t>(text[at] - '0');
    if (number > (std::numeric_limits<std::uint64_t>::max() - digit) / 10) return bad("number too large", 0);
    number = number * 10 + digit;
  }
  if (at == 0) return bad(quoted(text) + " is no size", 0);
  if (at == text.size()) return number;
  const auto* unit = std::ranges::find(kSizeUnits, lower(text[at]), &SizeUnit::letter);
  if (unit == kSizeUnits.end() || at + 1 != text.size()) return bad("unknown unit " + quoted(text.substr(at)), at);
  if (number > std::numeric_limits<std::uint64_t>::max() / unit->bytes) return bad("number too large", 0);
  return number * unit->bytes;
}

std::string size_text(std::uint64_t bytes) {
  for (const SizeUnit& unit : kSizeUnits) {
    if (bytes == 0 || bytes % unit.bytes != 0) continue;
    const char letter = unit.letter == 'k' ? 'k' : static_cast<char>(unit.letter - 'a' + 'A');
    return std::to_string(bytes / unit.bytes) + letter;
  }
  return std::to_string(bytes);
}

}  // namespace kron::jobs
