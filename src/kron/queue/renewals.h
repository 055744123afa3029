#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "kron/base/instant.h"
#include "kron/env/file_system.h"

namespace kron {

// Until when leases are held that were renewed, or that got a new term after a reboot: lines in the file `renewals`
// beside the tasks. It outlives the process and need not outlive the machine, whose next boot has another id, so
// nothing of it is ever synced.
class Renewals {
 public:
  // `directory` outlives it.
  Renewals(Directory& directory, std::string boot_id) : directory_(&directory), boot_id_(std::move(boot_id)) {}

  // By execution, the deadlines on Clock::boot_time that an earlier process noted in this boot. What cannot be read,
  // and lines that are none, count as not there: then a lease ends when its task's file says.
  std::map<std::string, Nanoseconds, std::less<>> load() const;

  using Add = std::function<void(std::string_view exec_id, Nanoseconds deadline)>;
  using AddAll = std::function<void(const Add& add)>;

  // Notes one more. The file is written anew, with whatever `add_all` adds, when it is not open or has grown large.
  Status note(std::string_view exec_id, Nanoseconds deadline, const AddAll& add_all);
  Status write_anew(const AddAll& add_all);

 private:
  std::string line_of(std::string_view exec_id, Nanoseconds deadline) const;

  Directory* directory_;
  std::string boot_id_;
  std::unique_ptr<File> file_;  // the one of that name; none: what is there is not ours, or its end may be torn
  std::size_t lines_ = 0;
  std::size_t most_lines_ = 0;  // then it is written anew
};

}  // namespace kron
