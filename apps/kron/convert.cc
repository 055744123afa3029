#include "convert.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "kron/base/text.h"
#include "kron/jobs/kron_line.h"
#include "kron/jobs/model.h"
#include "kron/jobs/schema.h"
#include "kron/jobs/yaml.h"
#include "terminal.h"
#include "verbs.h"

namespace kron::cli {
namespace {

void say(const jobs::JobDefinition& about, jobs::Severity severity, std::string message) {
  const std::array problems{jobs::Problem{severity, *about.file, {about.line, 1}, {}, std::move(message), {}, {}, 0}};
  show_aside(problems);
}

// What the model of the other spellings has no word for.
void report_losses(const jobs::JobDefinition& definition) {
  const auto& terms = definition.options->terms;
  if (!terms) return;
  const std::string name = quoted(definition.job.identity, 200);
  if (terms->paused) {
    say(definition, jobs::Severity::note, name + " is paused in cronken; carried over as policy.suspend");
  }
  say(definition, jobs::Severity::warning,
      name + ": cronken's lock and ttl are not carried over; a cluster's lock belongs to its cronken definition");
}

Result<Node> named_node(const jobs::JobDefinition& definition) {
  if (!jobs::is_job_name(definition.job.identity)) {
    return fail(Code::invalid, quoted(definition.job.identity, 200) + " cannot be a job's name in a job file");
  }
  return jobs::node_of(definition);
}

}  // namespace

std::size_t print_definitions(std::span<const jobs::JobDefinition> definitions, const std::string& to) {
  std::size_t written = 0;
  Node::List nodes;
  for (const jobs::JobDefinition& definition : definitions) {
    report_losses(definition);
    Status printed;
    if (to == "kron") {
      const Result<std::string> line = jobs::kron_line(definition);
      if (line) std::printf("%s\n", line->c_str());
      if (!line) printed = fail(line.error());
    } else {
      Result<Node> node = named_node(definition);
      if (node) nodes.push_back(*std::move(node));
      if (!node) printed = fail(node.error());
    }
    if (printed) {
      ++written;
      continue;
    }
    say(definition, jobs::Severity::error, printed.error().message);
  }
  if (to == "yaml" && !nodes.empty()) {
    Node::Map file;
    file.push_back({"jobs", {}, Node(std::move(nodes))});
    std::fputs(jobs::yaml_text(Node(std::move(file))).c_str(), stdout);
  }
  return written;
}

int convert(const ConvertOptions& options) {
  ZoneDatabase zones;
  const ReadJobs read = read_jobs(options.files, zones);
  show_aside(read.jobs.problems);
  const bool is_complete = print_definitions(read.jobs.definitions, options.to) == read.jobs.definitions.size();
  return std::max(read.status(), is_complete ? 0 : exit_status(Code::invalid));
}

int print_schema() {
  const std::string_view schema = jobs::job_file_schema();
  std::fwrite(schema.data(), 1, schema.size(), stdout);
  if (!schema.ends_with('\n')) std::fputc('\n', stdout);
  return 0;
}

}  // namespace kron::cli
