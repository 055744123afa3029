#pragma once

#include <string>

#include "kron/jobs/kron_line.h"
#include "kron/jobs/load.h"
#include "kron/jobs/yaml.h"

namespace kron::fuzz {

// Whether a definition, printed in the spellings that can say it, reads back as the same.
inline bool reads_back(jobs::JobDefinition definition, ZoneDatabase& zones) {
  if (definition.options->terms) {  // no other spelling has a lock; paused prints as suspended
    jobs::RunOptions options = *definition.options;
    definition.job.policy.suspend |= options.terms->paused;
    options.terms.reset();
    definition.options = std::make_shared<const jobs::RunOptions>(std::move(options));
  }
  const auto is_same = [&](const std::string& text, jobs::Spelling spelling) {
    const jobs::LoadedJobs again = jobs::load_text("again", text, spelling, zones);
    return again.definitions.size() == 1 && again.definitions.front() == definition;
  };
  const auto line = jobs::kron_line(definition);
  if (line && line->size() <= jobs::kMostLineBytes && !is_same(*line, jobs::Spelling::kron)) return false;
  auto node = jobs::node_of(definition);
  if (!node || !jobs::is_job_name(definition.job.identity)) return true;
  Node::Map file;
  file.push_back({"jobs", {}, Node(Node::List{*std::move(node)})});
  return is_same(jobs::yaml_text(Node(std::move(file))), jobs::Spelling::yaml);
}

// What the fuzzers of all four spellings do: any text is read or refused, every problem can be shown, and what was
// read reads back.
inline void read_as(jobs::Spelling spelling, const std::string& file, const unsigned char* data, std::size_t size) {
  static ZoneDatabase zones;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const jobs::LoadedJobs jobs = jobs::load_text(file, text, spelling, zones);
  for (const jobs::Problem& problem : jobs.problems) {
    if (jobs::text_of(problem).empty()) __builtin_trap();
  }
  for (const jobs::JobDefinition& definition : jobs.definitions) {
    if (!reads_back(definition, zones)) __builtin_trap();
  }
}

}  // namespace kron::fuzz
