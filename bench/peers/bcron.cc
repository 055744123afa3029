#include "bcron.h"

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../krond/host.h"

namespace kron::bench {
namespace {

std::string own_name() {
  const passwd* const own = ::getpwuid(::geteuid());
  if (own == nullptr) give_up("the present user has no name");
  return own->pw_name;
}

}  // namespace

std::optional<BcronPlace> find_bcron(const std::string& unpacked) {
  for (const std::string& root : {unpacked, std::string()}) {
    const std::string programs = root + "/usr/sbin";
    if (std::filesystem::exists(programs + "/bcron-sched")) {
      return BcronPlace{programs, root.empty() ? "" : root + "/usr/lib"};
    }
  }
  return std::nullopt;
}

// bcron-start makes two processes, bcron-sched and bcron-exec; in a group of their own, they end together.
Bcron::Bcron(const BcronPlace& place, const std::string& spool, const std::string& crontab) {
  const std::string user = own_name();
  std::filesystem::create_directory(spool + "/crontabs");
  ::mkfifo((spool + "/trigger").c_str(), 0600);
  std::ofstream(spool + "/crontabs/" + user) << crontab;
  ::chmod((spool + "/crontabs/" + user).c_str(), 0600);
  pid_ = ::fork();
  if (pid_ < 0) give_up("there is no process for bcron");
  if (pid_ != 0) return;
  ::setpgid(0, 0);
  ::setenv("BCRON_SPOOL", spool.c_str(), 1);
  ::setenv("BCRON_USER", user.c_str(), 1);
  ::setenv("PATH", (place.programs + ":/usr/bin:/bin").c_str(), 1);
  if (!place.libraries.empty()) ::setenv("LD_LIBRARY_PATH", place.libraries.c_str(), 1);
  const int log = ::open((spool + "/log").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::execl((place.programs + "/bcron-start").c_str(), "bcron-start", nullptr);
  ::_exit(127);
}

Bcron::~Bcron() {
  ::kill(-pid_, SIGTERM);
  ::waitpid(pid_, nullptr, 0);
}

}  // namespace kron::bench
