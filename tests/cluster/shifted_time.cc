#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

// Loaded before libc into a redis-server: its wall clock is what the file named by KRON_SHIFTED_TIME makes of the
// machine's, from one call to the next. shifted_time.py writes that file.
namespace {

struct Shift {
  std::atomic<std::int64_t> nanoseconds;  // added
  std::atomic<std::int64_t> per_million;  // by so much it runs fast …
  std::atomic<std::int64_t> since;        // … from this time of the machine on
};

const Shift* open_shift() {
  const char* path = std::getenv("KRON_SHIFTED_TIME");
  const int file = path != nullptr ? ::open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return nullptr;
  void* bytes = ::mmap(nullptr, sizeof(Shift), PROT_READ, MAP_SHARED, file, 0);
  ::close(file);
  return bytes != MAP_FAILED ? static_cast<const Shift*>(bytes) : nullptr;
}

std::int64_t shifted(const timespec& now) {
  static std::atomic<const Shift*> opened{nullptr};
  const std::int64_t time = now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
  const Shift* shift = opened.load();
  if (shift == nullptr) {
    shift = open_shift();
    if (shift == nullptr) return time;
    opened.store(shift);
  }
  return time + shift->nanoseconds.load() + (time - shift->since.load()) / 1'000'000 * shift->per_million.load();
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* result) noexcept {
  const long status = ::syscall(SYS_clock_gettime, clock, result);
  if (status == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    const std::int64_t time = shifted(*result);
    result->tv_sec = time / 1'000'000'000;
    result->tv_nsec = time % 1'000'000'000;
  }
  return static_cast<int>(status);
}

int gettimeofday(timeval* result, void* /*zone*/) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  result->tv_sec = now.tv_sec;
  result->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* result) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (result != nullptr) *result = now.tv_sec;
  return now.tv_sec;
}

}  // extern "C"
