#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kron/env/fake/power_cut_file_system.h"
#include "kron/env/fake/survivors.h"

namespace kron::testing {

// How a history was interrupted.
enum class Crash : std::uint8_t {
  power_cut,      // the disk is one of the survivors; nothing else is left of the machine
  process_death,  // the process is gone (kill -9); the machine, its page cache and other processes go on
};

struct SweepOptions {
  // The most survivors tried at a crash point of the history, at one of its recovery, at one of that one's …: as many
  // numbers as crashes in a row.
  std::vector<std::size_t> most_survivors = {512};
  bool process_deaths = true;
  std::uint64_t seed = 1;
  Sabotage sabotage = Sabotage::none;
};

struct SweepCounts {
  std::size_t crash_points = 0;
  std::size_t exhaustive_points = 0;  // those where every survivor was tried
  std::size_t power_cuts = 0;         // surviving states recovered from
  std::size_t process_deaths = 0;
  std::size_t violations = 0;
  std::vector<std::string> first_violations;  // at most 5, each with what replays it
};
std::ostream& operator<<(std::ostream& out, const SweepCounts& counts);

// Tries every moment at which a history can be cut off, and what each may leave behind.
//
// World is what the outside has seen and remembers (gates opened, calls acknowledged, processes): a value. `run` tells
// the history, `recover` is the restart of the program after a crash, `check` returns what is broken, or "" when
// nothing is. World is copied before every changing call, so it must say only what has happened: a gate is open when it
// is open.
template <class World>
class Sweep {
 public:
  using Step = std::function<void(World&, PowerCutFileSystem&)>;
  using Recovery = std::function<void(World&, PowerCutFileSystem&, Crash)>;
  using Check = std::function<std::string(World&, PowerCutFileSystem&)>;

  Sweep(Step run, Recovery recover, Check check, SweepOptions options = {})
      : run_(std::move(run)), recover_(std::move(recover)), check_(std::move(check)), options_(std::move(options)) {}

  SweepCounts operator()(const World& world, const Disk& disk = Disk()) {
    counts_ = {};
    std::vector<Moment> moments;
    World own = world;
    PowerCutFileSystem file_system(disk);
    tell(own, file_system, moments, [&] { run_(own, file_system); });
    crash_at_each(moments, 0, "");
    return counts_;
  }

 private:
  struct Moment {
    World world;
    Disk disk;
  };

  template <class Told>
  void tell(World& world, PowerCutFileSystem& file_system, std::vector<Moment>& moments, Told&& told) {
    file_system.sabotage(options_.sabotage);
    file_system.before_each_change([&] { moments.push_back({world, file_system.disk()}); });
    told();
    file_system.before_each_change(nullptr);
    moments.push_back({world, file_system.disk()});
  }

  void crash_at_each(const std::vector<Moment>& moments, std::size_t depth, const std::string& story) {
    for (std::size_t i = 0; i < moments.size(); ++i) {
      const Moment& moment = moments[i];
      const std::string here = story + " crash " + std::to_string(depth + 1) + " before change " + std::to_string(i);
      const std::uint64_t seed = options_.seed * 1'000'003 + counts_.crash_points++;
      const Survivors survivors = survivors_of(moment.disk, options_.most_survivors[depth], seed);
      counts_.exhaustive_points += survivors.exhaustive ? 1 : 0;
      for (const Survivor& survivor : survivors.all) {
        ++counts_.power_cuts;
        const Disk left = moment.disk.after_power_cut(survivor.kept, survivor.contents);
        restart(moment.world, left, Crash::power_cut, depth,
                [&] { return here + ", power cut: " + describe(moment.disk, survivor); });
      }
      if (!options_.process_deaths) continue;
      ++counts_.process_deaths;
      restart(moment.world, moment.disk, Crash::process_death, depth, [&] { return here + ", process death; "; });
    }
  }

  template <class Story>
  void restart(World world, const Disk& disk, Crash crash, std::size_t depth, Story story) {
    const bool goes_deeper = depth + 1 < options_.most_survivors.size();
    PowerCutFileSystem file_system(disk);
    std::vector<Moment> moments;
    if (goes_deeper) {
      tell(world, file_system, moments, [&] { recover_(world, file_system, crash); });
    } else {
      file_system.sabotage(options_.sabotage);
      recover_(world, file_system, crash);
    }
    if (const std::string broken = check_(world, file_system); !broken.empty()) report(broken, story());
    if (goes_deeper) crash_at_each(moments, depth + 1, story());
  }

  void report(const std::string& broken, const std::string& story) {
    ++counts_.violations;
    if (counts_.first_violations.size() >= 5) return;
    counts_.first_violations.push_back(broken + " (seed " + std::to_string(options_.seed) + "," + story + ")");
  }

  Step run_;
  Recovery recover_;
  Check check_;
  SweepOptions options_;
  SweepCounts counts_;
};

}  // namespace kron::testing
