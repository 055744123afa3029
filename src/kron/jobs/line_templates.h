#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kron/jobs/definition.h"

namespace kron::jobs {

// A .kron line, taken apart where the lines of a large file differ.
struct LineParts {
  std::string schedule;
  std::string name;
  std::string command;
  std::string rest;       // the line without these three, byte for byte
  std::size_t start = 0;  // where in the line it begins
};

// False, and `parts` are of no use, when one of the three is missing or stands twice, or the line is broken.
bool take_apart(std::string_view line, LineParts& parts);

// Large files are written by programs: their lines repeat the same modifiers and fields around another name, command
// and schedule. What the repeated part means is read once.
class LineTemplates {
 public:
  // Adds the definition of a line whose rest was remembered; its `line` is left to the caller. False when it was not,
  // or when there is anything to say about this line: then it must be read in full.
  bool add_definition(const LineParts& parts, std::vector<JobDefinition>& definitions);

  // `definition` was read from a line of these parts, and there was nothing to say about it.
  void remember(const LineParts& parts, const JobDefinition& definition);

 private:
  static constexpr std::size_t kMost = 4096;

  struct KnownSchedule {
    Schedule schedule;
    std::shared_ptr<const std::string> text;  // JobDefinition::schedule_text
  };
  Result<KnownSchedule> schedule_of(const LineParts& parts);

  std::unordered_map<std::string, JobDefinition> templates_;
  std::unordered_map<std::string, KnownSchedule> schedules_;
};

}  // namespace kron::jobs
