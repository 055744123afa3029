#pragma once

#include <gtest/gtest.h>
#include <string>

#include "kron/base/rfc3339.h"
#include "kron/core/time_zone.h"
#include "kron/json/document.h"
#include "kron/json/writer.h"
#include "kron/operator/kron_job.h"

// Test-only: KronJobs and times in one line each.
namespace kron::testing {

inline Instant at(const std::string& text) { return parse_rfc3339(text).value(); }

inline const Instant kNoon = at("2026-03-01T12:00:00Z");

inline JobState handled_through(Instant period) {
  JobState state;
  state.last_handled = period;
  return state;
}

inline constexpr std::string_view kNamespace = "shop";
inline constexpr std::string_view kName = "report";
inline constexpr std::string_view kReport = "shop/report";

// Zones are read once.
inline ZoneDatabase& zones() {
  static ZoneDatabase database;
  return database;
}

struct KronJobText {
  std::string schedule = "* * * * *";
  std::string window = "0s";
  std::string salt = {};
  std::string concurrency = "forbid";
  std::string deadline = "30s";
  bool suspend = false;
  int successful = 3;
  int failed = 1;
  std::string name = std::string(kName);
  std::string job_template =
      R"({"metadata":{"labels":{"team":"a"}},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c"}]}}}})";

  [[nodiscard]] Node spec() const {
    JsonWriter out;
    out.begin_map().member("schedule", schedule).member("timezone", "UTC");
    out.key("window").begin_map().member("mode", "after").member("duration", window).end_map();
    out.key("seed").begin_map().member("salt", salt).end_map();
    out.key("policy").begin_map().member("concurrency", concurrency).member("deadline", deadline);
    out.key("suspend").boolean(suspend).end_map();
    out.key("successfulJobsHistoryLimit").integer(successful).key("failedJobsHistoryLimit").integer(failed);
    return parse_json(out.key("jobTemplate").document(job_template).end_map().take()).value();
  }

  // As a user writes it.
  [[nodiscard]] Node object() const {
    JsonWriter out;
    out.begin_map().member("apiVersion", "kron.io/v1alpha1").member("kind", "KronJob");
    out.key("metadata").begin_map().member("name", name).member("namespace", kNamespace).end_map();
    return parse_json(out.key("spec").node(spec()).end_map().take()).value();
  }
};

}  // namespace kron::testing
