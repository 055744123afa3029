#include "kron/jobs/pools.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "kron/base/text.h"

namespace kron::jobs {
namespace {

struct PoolSize {
  std::uint32_t slots;
  const std::string* file;
  std::size_t line;
};
using PoolSizes = std::map<std::string, PoolSize, std::less<>>;

std::string place_of(const PoolSize& size) { return *size.file + ":" + std::to_string(size.line); }

Problem pool_problem(const std::string& file, Position at, std::string field, std::string message, std::string cure) {
  return {Severity::error, file, at, std::move(field), std::move(message), std::move(cure), {}, 0};
}

// Nothing: it is what it was, or is said for the first time.
std::optional<Problem> note_size(PoolSizes& sizes, const SlotPool& pool, const std::string& file, Position at,
                                 const std::string& field) {
  const auto known = sizes.find(pool.name);
  if (known == sizes.end() && sizes.size() == kMostPools) {
    return pool_problem(file, at, field,
                        "the pool " + quoted(pool.name, 200) + " is one more than " + std::to_string(kMostPools),
                        "let jobs share pools");
  }
  if (known == sizes.end()) {
    sizes.emplace(pool.name, PoolSize{pool.slots, &file, at.line});
    return std::nullopt;
  }
  if (known->second.slots == pool.slots) return std::nullopt;
  return pool_problem(file, at, field,
                      "the pool " + quoted(pool.name, 200) + " has " + std::to_string(known->second.slots) +
                          " slots by " + place_of(known->second) + ", and " + std::to_string(pool.slots) + " here",
                      "say it in one place, as pools: {" + pool.name + ": " + std::to_string(pool.slots) +
                          "}, and write pool: " + pool.name + " elsewhere");
}

Problem no_such_pool(const JobDefinition& definition, const PoolSizes& sizes) {
  const std::string& name = definition.options->pool->name;
  std::vector<std::string_view> known;
  for (const auto& [pool, size] : sizes) known.push_back(pool);
  const std::string_view near = nearest_word(name, known);
  return pool_problem(*definition.file, {definition.line, 1}, "pool",
                      "no file that was read says how many slots the pool " + quoted(name, 200) + " has",
                      near.empty() ? "write pool=" + name + ":4, or pools: {" + name + ": 4} in a YAML job file"
                                   : "did you mean " + std::string(near) + "?");
}

}  // namespace

void resolve_pools(LoadedJobs& jobs) {
  const auto has_pool = [](const JobDefinition& definition) { return definition.options->pool.has_value(); };
  if (jobs.pools.empty() && std::ranges::none_of(jobs.definitions, has_pool)) return;
  PoolSizes sizes;
  for (const PoolPlace& said : jobs.pools) {
    auto problem = note_size(sizes, said.pool, *said.file, said.at, "pools." + said.pool.name);
    if (problem) jobs.problems.push_back(*std::move(problem));
  }
  std::vector<bool> is_refused(jobs.definitions.size(), false);
  const auto refuse = [&](std::size_t i, Problem problem) {
    const JobDefinition& definition = jobs.definitions[i];
    is_refused[i] = true;
    jobs.problems.push_back(std::move(problem));
    jobs.refused.push_back({definition.job.identity, definition.file, definition.line});
  };
  for (std::size_t i = 0; i < jobs.definitions.size(); ++i) {
    const JobDefinition& definition = jobs.definitions[i];
    const auto& pool = definition.options->pool;
    if (!pool || pool->slots == 0) continue;
    auto problem = note_size(sizes, *pool, *definition.file, {definition.line, 1}, "pool");
    if (problem) refuse(i, *std::move(problem));
  }
  OptionsPool shared;
  for (std::size_t i = 0; i < jobs.definitions.size(); ++i) {
    JobDefinition& definition = jobs.definitions[i];
    const auto& pool = definition.options->pool;
    if (!pool || pool->slots != 0) continue;
    const auto size = sizes.find(pool->name);
    if (size == sizes.end()) {
      refuse(i, no_such_pool(definition, sizes));
      continue;
    }
    RunOptions options = *definition.options;
    options.pool->slots = size->second.slots;
    definition.options = shared.share(std::move(options));
  }
  std::size_t index = 0;
  std::erase_if(jobs.definitions, [&](const JobDefinition&) { return is_refused[index++]; });
}

}  // namespace kron::jobs
