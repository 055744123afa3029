#pragma once

#include <gtest/gtest.h>
#include <string>

#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/core/job.h"

// Test-only: jobs and times in one line each.
namespace kron::testing {

inline Instant utc(const std::string& text) { return parse_rfc3339(text).value(); }

inline TimeZone zone(const std::string& name) {
  static ZoneDatabase database;
  return database.find(name).value();
}

struct JobSpec {
  std::string schedule = "* * * * *";
  std::string window = "0s";
  WindowMode mode = WindowMode::after;
  std::string deadline = "0s";
  Concurrency concurrency = Concurrency::forbid;
  std::string identity = "test/job";
  std::string salt = {};
  std::string zone = "UTC";
};

inline Job make_job(const JobSpec& spec) {
  Job job;
  job.identity = spec.identity;
  job.schedule = parse_schedule(spec.schedule, spec.identity).value();
  job.zone = testing::zone(spec.zone);
  job.window = {spec.mode, parse_duration(spec.window).value()};
  job.salt = spec.salt;
  job.policy.deadline = parse_whole_seconds(spec.deadline).value();
  job.policy.concurrency = spec.concurrency;
  return job;
}

}  // namespace kron::testing
