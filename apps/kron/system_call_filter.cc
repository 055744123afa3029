#include "system_call_filter.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include "kron/env/system_error.h"

namespace kron::cli {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
constexpr std::uint32_t kOtherCalls = 0x40000000;  // those of x32, by other numbers
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
constexpr std::uint32_t kOtherCalls = UINT32_MAX;
#else
constexpr std::uint32_t kArchitecture = 0;  // nobody has looked which numbers its calls have
constexpr std::uint32_t kOtherCalls = UINT32_MAX;
#endif

// What serving never needs, and what helps whoever has taken a process over.
constexpr std::array kForbidden{
    // Other programs and processes.
    SYS_execve, SYS_execveat, SYS_kill, SYS_tkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_pidfd_send_signal,
    SYS_pidfd_getfd, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp,
// With AddressSanitizer a process looks into itself at its end.
#ifndef __SANITIZE_ADDRESS__
    SYS_ptrace,
#endif
    // Users, namespaces and mounts.
    SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid, SYS_setresuid, SYS_setresgid, SYS_setgroups, SYS_capset,
    SYS_unshare, SYS_setns, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_open_by_handle_at,
    SYS_name_to_handle_at,
    // The kernel and the machine.
    SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd,
    SYS_keyctl, SYS_add_key, SYS_request_key, SYS_io_uring_setup, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_acct,
    SYS_quotactl, SYS_syslog, SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime, SYS_sethostname,
    SYS_setdomainname, SYS_personality};

constexpr std::uint32_t kRefused = SECCOMP_RET_ERRNO | EPERM;

std::vector<sock_filter> program() {
  std::vector<sock_filter> lines;
  const auto load = [&](std::size_t offset) {
    lines.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)));
  };
  const auto end_with = [&](std::uint32_t answer) { lines.push_back(BPF_STMT(BPF_RET | BPF_K, answer)); };
  load(offsetof(seccomp_data, arch));
  lines.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0));
  end_with(kRefused);
  load(offsetof(seccomp_data, nr));
  lines.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kOtherCalls, 0, 1));
  end_with(kRefused);
  for (const long call : kForbidden) {
    lines.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1));
    end_with(kRefused);
  }
  // A thread may be signalled if it is one of its own, as abort() does.
  lines.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(SYS_tgkill), 0, 3));
  load(offsetof(seccomp_data, args));
  lines.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(::getpid()), 1, 0));
  end_with(kRefused);
  end_with(SECCOMP_RET_ALLOW);
  return lines;
}

}  // namespace

Status confine_front() {
  if (kArchitecture == 0) return fail(Code::refused, "this architecture has no filter of system calls yet");
  std::vector<sock_filter> lines = program();
  sock_fprog filter{.len = static_cast<unsigned short>(lines.size()), .filter = lines.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    return fail(system_error("filter the system calls of", "this process", errno));
  }
  return {};
}

}  // namespace kron::cli
