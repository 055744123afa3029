#include "kron/jobs/line_templates.h"

#include "kron/base/text.h"
#include "kron/core/make_job.h"
#include "kron/jobs/line_scanner.h"
#include "kron/jobs/schedule_advice.h"
#include "kron/jobs/words.h"

namespace kron::jobs {
namespace {

bool skip_modifier(LineScanner& scanner) {
  if (!scanner.pass_value(LineScanner::Stop::modifier_end) || scanner.at_end()) return false;
  scanner.take();
  return scanner.at_end() || scanner.at_blank();
}

// Nothing to object to and nothing to advise.
bool is_good_command(const std::string& command, bool by_shell) {
  if (by_shell) return !trimmed(command).empty();
  if (is_plain_command(command)) return true;
  return words_of(command).has_value() && first_shell_character(command) == std::string_view::npos;
}

}  // namespace

bool take_apart(std::string_view line, LineParts& parts) {
  parts.rest.clear();
  LineScanner scanner(line);
  scanner.skip_blanks();
  parts.start = scanner.at();
  parts.schedule = scanner.take_schedule();
  if (parts.schedule.empty()) return false;
  std::size_t kept = scanner.at();
  bool has_name = false;
  bool has_command = false;
  while (scanner.skip_blanks(), !scanner.at_end()) {
    if (scanner.at_modifier()) {
      if (!skip_modifier(scanner)) return false;
      continue;
    }
    if (!scanner.at_field()) return false;
    const std::string_view key = scanner.take_key();
    scanner.take();
    const std::size_t start = scanner.at();
    bool* const given = key == "name" ? &has_name : key == "command" ? &has_command : nullptr;
    if (given == nullptr) {
      if (!scanner.pass_value(LineScanner::Stop::blank)) return false;
      continue;
    }
    std::string& value = given == &has_name ? parts.name : parts.command;
    value.clear();
    if (*given || !scanner.take_value(LineScanner::Stop::blank, value)) return false;
    *given = true;
    parts.rest += line.substr(kept, start - kept);
    kept = scanner.at();
  }
  parts.rest += line.substr(kept);
  return has_name && has_command;
}

// Only H looks at the name. A schedule that there is something to say about is not given: its line is read in full.
Result<LineTemplates::KnownSchedule> LineTemplates::schedule_of(const LineParts& parts) {
  if (const auto known = schedules_.find(parts.schedule); known != schedules_.end()) return known->second;
  Result<Schedule> schedule = parse_schedule(parts.schedule, parts.name);
  if (!advice_on(parts.schedule).empty()) return fail(Code::invalid, "the schedule is hardly meant so");
  const bool is_for_all = parts.schedule.find_first_of("Hh") == std::string::npos;
  if (!schedule) return fail(schedule.error());
  KnownSchedule known{*schedule, kept_schedule_text(parts.schedule, *schedule)};
  if (is_for_all && schedules_.size() < kMost) schedules_.emplace(parts.schedule, known);
  return known;
}

bool LineTemplates::add_definition(const LineParts& parts, std::vector<JobDefinition>& definitions) {
  const auto known = templates_.find(parts.rest);
  if (known == templates_.end()) return false;
  const bool by_shell = !known->second.options->shell.empty();
  if (!is_job_name(parts.name) || !is_good_command(parts.command, by_shell)) return false;
  Result<KnownSchedule> schedule = schedule_of(parts);
  if (!schedule) return false;
  JobDefinition& definition = definitions.emplace_back(known->second);
  definition.job.identity = parts.name;
  definition.job.schedule = std::move(schedule->schedule);
  definition.schedule_text = std::move(schedule->text);
  Result<Job> job = make_job(std::move(definition.job));
  if (!job) {
    definitions.pop_back();
    return false;
  }
  definition.job = *std::move(job);
  definition.action = Command{parts.command};
  return true;
}

void LineTemplates::remember(const LineParts& parts, const JobDefinition& definition) {
  // What @dst leaves out is the schedule's to say.
  if (templates_.size() == kMost || parts.rest.find("@dst(") != std::string::npos) return;
  JobDefinition& remembered = templates_.emplace(parts.rest, definition).first->second;
  remembered.job.identity.clear();
  remembered.job.schedule = {};
  remembered.schedule_text.reset();
  remembered.action = Command{};
}

}  // namespace kron::jobs
