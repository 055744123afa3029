#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/env/fake/disk.h"
#include "kron/env/file_system.h"

namespace kron::testing {

enum class Call : std::uint8_t {
  open_directory,
  read,
  list,
  info,
  create,  // the first of those that change the disk
  overwrite,
  write,
  sync_file,
  rename,
  remove,
  make_directory,
  remove_directory,
  sync_directory,
  lock,
};
std::string_view name_of(Call call);
constexpr bool is_change(Call call) { return call >= Call::create; }

struct CallRecord {
  Call call = Call::info;
  std::string path;
  std::size_t index = 0;  // among the changing calls, from 0; of a reading call: that of the next change
};

enum class Fault : std::uint8_t {
  none,
  no_space,
  io_error,
  read_only,
  no_permission,
  interrupted,  // a write takes nothing; any other call fails and changes nothing
  short_write,  // a write takes half; no fault for any other call
};

// Leaves out, or moves, a step of every durable write, to see that a sweep notices.
enum class Sabotage : std::uint8_t { none, no_file_sync, no_directory_sync, file_sync_after_rename };

// A file system in memory whose power can go before any changing call; what is then left is for survivors.h to say. A
// sync that fails loses what it should have written: readers still see it, no later sync makes it safe. For one thread.
class PowerCutFileSystem : public FileSystem {
 public:
  using FaultRule = std::function<Fault(const CallRecord&)>;

  explicit PowerCutFileSystem(Disk disk = Disk()) : disk_(std::move(disk)) {}
  PowerCutFileSystem(const PowerCutFileSystem&) = delete;
  PowerCutFileSystem& operator=(const PowerCutFileSystem&) = delete;

  Result<std::unique_ptr<Directory>> open_directory(std::string_view path) override;
  std::vector<Status> sync_together(std::span<File* const> files) override;
  uid_t user() const override { return 1000; }

  // What may go wrong.
  void fail_when(FaultRule rule) { rule_ = std::move(rule); }
  void fail_change(std::size_t index, Fault fault);
  void sabotage(Sabotage sabotage) { sabotage_ = sabotage; }

  // After this many changing calls the power is gone: every later call fails, and the disk stays as it is.
  void cut_power_after(std::size_t changes) { power_ends_ = changes; }
  bool is_powered_off() const { return changes_ >= power_ends_; }

  // Called before every changing call, that is, at every moment at which a power cut makes a difference.
  void before_each_change(std::function<void()> observe) { observe_ = std::move(observe); }

  void set_time(Instant now) { now_ = now; }
  // What every directory tells of the space on its disk; nothing, unless it is set.
  void set_space(std::optional<DiskSpace> space) { space_ = space; }
  void set_process_id(pid_t pid) { pid_ = pid; }

  // Puts something on the disk for certain, below a directory that exists.
  void plant(std::string_view path, std::string data, FileInfo info);
  void plant_file(std::string_view path, std::string data);
  void plant_directory(std::string_view path);

  const Disk& disk() const { return disk_; }
  const std::vector<CallRecord>& calls() const { return calls_; }
  // For years of them: no longer remembers the calls so far, nor files without a name. No File may be open.
  void forget_the_past() {
    calls_.clear();
    disk_.forget_nameless();
  }
  std::size_t changes() const { return changes_; }

 private:
  friend class FakeDirectory;
  friend class FakeFile;
  friend class FakeLock;

  struct Begun {
    Fault fault = Fault::none;
    std::optional<Error> error;
  };
  Begun begin(Call call, std::string_view path);
  Status sync_file(InodeId file, std::string_view path);
  Status sync_directory(InodeId directory, std::string_view path);
  Status sync_directory_now(InodeId directory, std::string_view path);

  Disk disk_;
  FaultRule rule_;
  Sabotage sabotage_ = Sabotage::none;
  std::size_t power_ends_ = static_cast<std::size_t>(-1);
  std::function<void()> observe_;
  Instant now_ = instant_of(1'767'225'600);
  std::optional<DiskSpace> space_;
  pid_t pid_ = 4242;
  std::vector<CallRecord> calls_;
  std::size_t changes_ = 0;
  std::vector<std::pair<InodeId, std::string>> postponed_syncs_;
  std::map<std::string, pid_t> locks_;
};

}  // namespace kron::testing
