#include "kron/runner/fork_server.h"

#include <csignal>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <vector>

#include "kron/runner/pidfd.h"
#include "kron/runner/protocol.h"

namespace kron::runner {
namespace {

bool limit_wait(int socket, std::chrono::milliseconds patience) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(patience);
  const timeval limit{seconds.count(), std::chrono::microseconds(patience - seconds).count()};
  return ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0;
}

pid_t* map_shared(int file) {
  if (::ftruncate(file, sizeof(pid_t)) != 0) return nullptr;
  void* place = ::mmap(nullptr, sizeof(pid_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return place == MAP_FAILED ? nullptr : static_cast<pid_t*>(place);
}

// At most kMostPassed.
bool send_with(int socket, std::string_view bytes, const std::vector<int>& descriptors) {
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(kMostPassed * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
  std::memcpy(CMSG_DATA(head), descriptors.data(), descriptors.size() * sizeof(int));
  return uninterrupted([&] { return ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT); }) >= 0;
}

}  // namespace

ForkServer::ForkServer(pid_t pid, Descriptor process, Descriptor requests, pid_t* forked,
                       std::chrono::milliseconds patience)
    : pid_(pid), process_(std::move(process)), requests_(std::move(requests)), forked_(forked), patience_(patience) {}

std::unique_ptr<ForkServer> ForkServer::start(const HelperProgram& program, int runs,
                                              std::chrono::milliseconds patience) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return nullptr;
  Descriptor ours(ends[0]);
  const Descriptor theirs = out_of_the_way(Descriptor(ends[1]));
  const Descriptor shared = out_of_the_way(Descriptor(::memfd_create("kron-forked", MFD_CLOEXEC)));
  if (!theirs || !shared || !limit_wait(ours.get(), patience)) return nullptr;
  pid_t* const forked = map_shared(shared.get());
  if (forked == nullptr) return nullptr;
  const Result<pid_t> pid =
      program.execute(theirs.get(), shared.get(), runs, -1, {kServeArgument, std::string(kTitleSize, ' ')});
  Descriptor process(pid ? open_pidfd(*pid) : -1);
  if (process) {
    return std::unique_ptr<ForkServer>(new ForkServer(*pid, std::move(process), std::move(ours), forked, patience));
  }
  if (pid) {
    ::kill(*pid, SIGKILL);
    uninterrupted([&] { return ::waitpid(*pid, nullptr, 0); });
  }
  ::munmap(forked, sizeof *forked);
  return nullptr;
}

ForkServer::~ForkServer() {
  end();
  ::munmap(forked_, sizeof *forked_);
}

bool ForkServer::request(const std::string& instructions, int gate, int lease) const {
  std::vector<int> passed = {gate};
  Result<Descriptor> file;
  const bool is_long = instructions.size() > kMostInRequest;
  if (is_long) {
    file = memory_file(instructions);
    if (!file) return false;
    passed.push_back(file->get());
  }
  if (lease >= 0) passed.push_back(lease);
  return send_with(requests_.get(), is_long ? kInFile : std::string_view(instructions), passed);
}

ForkServer::Forked ForkServer::fork(const std::string& instructions, const Gate& gate, int lease) {
  *forked_ = 0;
  std::int32_t answer = 0;
  if (request(instructions, gate.theirs.get(), lease)) {
    const ssize_t size = uninterrupted([&] { return ::recv(requests_.get(), &answer, sizeof answer, 0); });
    const bool is_answer = size == static_cast<ssize_t>(sizeof answer);
    const bool is_late = size < 0 && errno == EAGAIN;
    if (is_answer || is_late) was_useful_ = is_answer;
    if (is_answer) return answer > 0 ? Forked{answer, 0} : Forked{0, -answer};
  }
  // It may have died right after it made a process, and before it could say so; whether it did is certain only when it
  // is dead.
  return Forked{end() ? *static_cast<const volatile pid_t*>(forked_) : 0, 0};
}

// A process that is stopped hears KILL, too. If we reap orphans, it may be reaped already.
bool ForkServer::end() const {
  (void)signal_pidfd(process_.get(), SIGKILL);
  pollfd event{process_.get(), POLLIN, 0};
  if (uninterrupted([&] { return ::poll(&event, 1, static_cast<int>(patience_.count())); }) != 1) return false;
  siginfo_t how{};
  ::waitid(P_PIDFD, static_cast<id_t>(process_.get()), &how, WEXITED | WNOHANG);
  return true;
}

}  // namespace kron::runner
