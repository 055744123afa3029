// Nanoseconds per decide, as a ratio to one raw SHA-256 of the same input in the same run, and allocations per decide.
// Prints one JSON object.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <openssl/evp.h>
#include <string>
#include <vector>

#include "kron/core/decision.h"
#include "kron/testing/allocations.h"

namespace {

using kron::Decision;
using kron::Instant;
using kron::Job;
using BenchClock = std::chrono::steady_clock;

struct Case {
  const char* name;
  Job job;
};

Job job_in(const char* zone, std::chrono::hours window) {
  static kron::ZoneDatabase zones;
  Job job;
  job.identity = "prod/db-backup";
  job.salt = "backup";
  job.zone = zones.find(zone).value();
  job.window = {kron::WindowMode::after, window};
  return job;
}

std::vector<Case> cases() {
  std::vector<Case> all{{"utc", job_in("UTC", std::chrono::hours(3))},
                        {"paris", job_in("Europe/Paris", std::chrono::hours(3))},
                        {"paris_daily_seed", job_in("Europe/Paris", std::chrono::hours(3))},
                        {"paris_24h_hours_dow", job_in("Europe/Paris", std::chrono::hours(24))},
                        {"paris_64_attempts", job_in("Europe/Paris", std::chrono::hours(24))}};
  all[2].job.seed_strategy = kron::SeedStrategy::daily;
  all[3].job.constraints.only.hours = 0x03FE00;  // 9-17
  all[3].job.constraints.only.weekdays = 0x3E;   // Monday to Friday
  all[4].job.constraints.only.dates = {{20000101, 20000101}};
  for (const char* name : {"skewLate", "normal", "exponential"}) {
    Job job = job_in("UTC", std::chrono::hours(3));
    job.distribution = kron::make_distribution(name, {}).value();
    all.push_back({name, job});
  }
  return all;
}

// SHA-256 as bare as the library allows: algorithm fetched and context made once.
class RawSha256 {
 public:
  RawSha256() : algorithm_(EVP_MD_fetch(nullptr, "SHA256", nullptr)), context_(EVP_MD_CTX_new()) {
    EVP_DigestInit_ex2(context_, algorithm_, nullptr);
  }
  RawSha256(const RawSha256&) = delete;
  RawSha256& operator=(const RawSha256&) = delete;
  ~RawSha256() {
    EVP_MD_CTX_free(context_);
    EVP_MD_free(algorithm_);
  }

  unsigned operator()(const std::string& input) {
    std::array<unsigned char, 32> hash{};
    EVP_DigestInit_ex2(context_, nullptr, nullptr);
    EVP_DigestUpdate(context_, input.data(), input.size());
    EVP_DigestFinal_ex(context_, hash.data(), nullptr);
    return hash[0];
  }

 private:
  EVP_MD* algorithm_;
  EVP_MD_CTX* context_;
};

// The fastest of several rounds: what else the machine does can only make a round slower.
template <class Work>
double nanoseconds_per_call(int rounds, int calls, Work&& work) {
  double best = std::numeric_limits<double>::max();
  for (int round = 0; round < rounds; ++round) {
    const auto start = BenchClock::now();
    for (int i = 0; i < calls; ++i) work(i);
    const std::chrono::duration<double, std::nano> taken = BenchClock::now() - start;
    best = std::min(best, taken.count() / calls);
  }
  return best;
}

Instant nominal_of(int i) { return kron::instant_of(1'772'323'200 + std::int64_t{i} * 86'400); }

}  // namespace

int main() {
  const bool brief = std::getenv("BRIEF") != nullptr;
  const int rounds = brief ? 2 : 40;
  const int calls = brief ? 200 : 5'000;
  std::uint64_t checksum = 0;
  RawSha256 raw;
  std::printf("{");
  for (const Case& c : cases()) {
    const Decision decision = decide(c.job, nominal_of(0));
    const std::string input = c.job.identity + "\n" + std::string(decision.period_key.view()) + "\n" + c.job.salt;
    const double hash = nanoseconds_per_call(rounds, calls, [&](int) { checksum += raw(input); });
    const std::size_t allocations = kron::testing::allocations();
    const double whole = nanoseconds_per_call(
        rounds, calls, [&](int i) { checksum += static_cast<std::uint64_t>(decide(c.job, nominal_of(i)).attempts); });
    const std::size_t allocated = kron::testing::allocations() - allocations;
    std::printf("\"%s\":{\"ns_per_decide\":%.0f,\"ns_per_sha256\":%.0f,\"ratio\":%.2f,\"allocations\":%zu},", c.name,
                whole, hash, whole / hash, allocated);
  }
  std::printf("\"checksum\":%llu}\n", static_cast<unsigned long long>(checksum));
}
