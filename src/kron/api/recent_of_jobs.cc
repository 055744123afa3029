#include "kron/api/recent_of_jobs.h"

#include <chrono>
#include <future>
#include <memory>

#include "kron/api/parts.h"

namespace kron::api {
namespace {

// Whoever asks waits so long for the history; then what is due comes first.
constexpr std::chrono::seconds kPatienceWithHistory{5};

}  // namespace

std::map<std::string, history::Recent> recent_of_jobs(Parts& parts, const Forecasts::Definitions& definitions) {
  using Recents = std::map<std::string, history::Recent>;
  std::vector<std::string> names;
  names.reserve(definitions.size());
  for (const auto& definition : definitions) names.push_back(definition.job.identity);
  const auto told = std::make_shared<std::promise<Recents>>();
  auto waits = told->get_future();
  parts.history.recent_of(std::move(names),
                          [told](Result<Recents> recent) { told->set_value(recent ? *std::move(recent) : Recents()); });
  return waits.wait_for(kPatienceWithHistory) == std::future_status::ready ? waits.get() : Recents();
}

}  // namespace kron::api
