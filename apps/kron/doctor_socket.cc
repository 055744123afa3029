#include <cerrno>
#include <cstdlib>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "answer_text.h"
#include "daemon_client.h"
#include "doctor.h"
#include "kron/env/places.h"
#include "kron/env/system_error.h"

namespace kron::cli {
namespace {

constexpr char kSocket[] = "socket";

// The krond of the machine is root's to start; a user's is his own.
std::string how_to_start(const std::string& path) {
  constexpr char kByRoot[] = "`systemctl start krond`";
  if (::geteuid() == 0) return std::string("start it: ") + kByRoot + ", or `krond` by hand";
  if (path == default_socket("/var/lib/krond")) return std::string("have root start it: ") + kByRoot;
  return std::string(
             "start it: `systemctl --user start krond`, or `krond` by hand; the machine's own is root's to start: ") +
         kByRoot;
}

std::string user_name(uid_t user) {
  const passwd* entry = ::getpwuid(user);
  return entry != nullptr ? entry->pw_name : "user " + std::to_string(user);
}

std::string group_name(gid_t group) {
  const ::group* entry = ::getgrgid(group);
  return entry != nullptr ? entry->gr_name : std::to_string(group);
}

// Who may connect, by the socket's own mode; what they may do then is krond's to say.
std::string admitted(const struct stat& info) {
  std::string who = info.st_uid == 0 ? "root" : user_name(info.st_uid) + " and root";
  if ((info.st_mode & S_IWGRP) != 0) who += " and group " + group_name(info.st_gid);
  if ((info.st_mode & S_IWOTH) != 0) who = "everybody";
  return who + " may connect";
}

// What krond last read, compared with the disk; what is there now is examined on its own.
void judge_files(const Node& files, Findings& findings) {
  for (const Node& file : list_in(files, "changed")) {
    findings.push_back({Verdict::warning, "config",
                        text_in(file, "file") + ": " + text_in(file, "change") + " on disk since krond read it at " +
                            text_in(files, "readAt"),
                        "`kron reload`"});
  }
  if (const std::string failed = text_in(files, "reloadError"); !failed.empty()) {
    findings.push_back({Verdict::problem, "config", "the last reload failed, and changed nothing: " + failed,
                        "`kron reload` again, when the cause is mended"});
  }
}

void judge_cluster(const Node& cluster, Findings& findings) {
  constexpr char kCluster[] = "cluster";
  const std::string where = text_in(cluster, "redis");
  if (flag_in(cluster, "linkUp")) {
    findings.push_back({Verdict::ok, kCluster, where + " answers; this krond is " + text_in(cluster, "instance")});
  }
  if (text_in(cluster, "tasks") == "file") {
    findings.push_back({Verdict::ok, "tasks",
                        "they are in the files of this host (--tasks file); jobs of the cluster that submit tasks are "
                        "refused here"});
  }
  if (const std::string why = text_in(cluster, "notReady"); !why.empty()) {
    findings.push_back({Verdict::problem, kCluster, why, "krond goes on by itself when that is mended"});
  }
  for (const Node& warning : list_in(cluster, "warnings")) {
    const bool is_error = text_in(warning, "severity") == "error";
    findings.push_back({is_error ? Verdict::problem : Verdict::warning, kCluster, text_in(warning, "message")});
  }
}

// Whether there is something that could answer.
bool examine_file(const std::string& path, Findings& findings) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    const bool is_missing = errno == ENOENT;
    findings.push_back({Verdict::problem, kSocket,
                        is_missing ? path + " is not there: krond is not running, or listens elsewhere"
                                   : system_error("look at", path, errno).message,
                        is_missing ? how_to_start(path) + "; --socket says where it listens" : ""});
    return false;
  }
  if (!S_ISSOCK(info.st_mode)) {
    findings.push_back({Verdict::problem, kSocket, path + " is no socket", "remove it, and start krond again"});
    return false;
  }
  findings.push_back({Verdict::ok, kSocket, path + ": " + admitted(info)});
  return true;
}

}  // namespace

void judge_status(const Node& status, const char* about, Findings& findings) {
  const std::string version = text_in(status, "version");
  if (version != KRON_VERSION) {
    findings.push_back({Verdict::warning, about, "krond is version " + version + ", kron is " KRON_VERSION,
                        "start krond again, so that the version that is installed runs"});
  }
  if (flag_in(status, "stopping")) {
    findings.push_back({Verdict::warning, about, "krond is about to end", "wait for its runs, or start it again"});
  } else if (!flag_in(status, "ready")) {
    findings.push_back({Verdict::problem, about, "krond is not ready", "its log says why"});
  }
  if (const Node* files = status.find("jobFiles")) judge_files(*files, findings);
  if (const Node* cluster = status.find("cluster")) judge_cluster(*cluster, findings);
  const std::string offset = text_in(status, "clockOffsetSeconds");
  if (!offset.empty() && offset != "0") {
    findings.push_back({Verdict::warning, about, "krond's clock is shifted by " + offset + " seconds",
                        "start it without --clock-offset, unless this is a drill"});
  }
}

DaemonFacts examine_socket(const std::string& socket_path, Findings& findings) {
  DaemonFacts facts;
  if (!examine_file(socket_path, findings)) return facts;
  const auto body = DaemonClient(socket_path).status_with_changes();
  if (!body) {
    const bool is_gone = body.error().code == Code::unreachable;
    findings.push_back(
        {Verdict::problem, kSocket, body.error().message,
         is_gone ? how_to_start(socket_path) : "ask as root, as krond's user, or as a member of its group"});
    return facts;
  }
  const auto status = parsed_answer(*body);
  if (!status) {
    findings.push_back({Verdict::problem, kSocket, status.error().message, "--socket says where krond listens"});
    return facts;
  }
  facts.answers = true;
  facts.in_cluster = status->find("cluster") != nullptr;
  facts.state_directory = text_in(*status, "stateDirectory");
  facts.clock_offset =
      Seconds(static_cast<std::int64_t>(std::strtod(text_in(*status, "clockOffsetSeconds").c_str(), nullptr)));
  for (const Node& path : list_in(*status, "config")) {
    if (const auto* text = path.as<std::string>()) facts.config.push_back(*text);
  }
  findings.push_back({Verdict::ok, kSocket,
                      "krond " + text_in(*status, "version") + " answers, PID " + text_in(*status, "pid") + ", " +
                          text_in(*status, "jobs") + " jobs"});
  judge_status(*status, kSocket, findings);
  return facts;
}

}  // namespace kron::cli
