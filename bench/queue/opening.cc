#include "opening.h"

#include <fcntl.h>
#include <fstream>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "ground.h"
#include "kron/queue/file_queue.h"
#include "kron/queue/task_file.h"

namespace kron::bench {
namespace {

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0;
  file >> pages >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// Whoever submitted them has gone: their files are written as they lie there, without the syncs.
void write_waiting(const std::string& data_directory, std::size_t count) {
  const std::string pending = data_directory + "/tasks/pending/";
  std::filesystem::create_directories(pending);
  for (std::size_t i = 0; i < count; ++i) {
    const NewTask task = task_number(i);
    std::ofstream(pending + task_file_name(task.id)) << task_text(new_task(task, i + 1, instant_of(1'767'225'600)));
  }
  std::ofstream(data_directory + "/tokens.json") << "{\"reserved\":" << count << "}\n";
  // What the disk still has to write would be counted against whoever comes first.
  ::sync();
}

// The bare cost: every file of the directory opened, measured, read and closed.
double seconds_to_read(const std::string& directory) {
  std::vector<char> bytes(std::size_t{1} << 20);
  return seconds_of([&] {
    const int parent = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    require(parent >= 0);
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      const int file = ::openat(parent, entry.path().filename().c_str(), O_RDONLY | O_CLOEXEC);
      struct stat status {};
      require(file >= 0 && ::fstat(file, &status) == 0 && ::read(file, bytes.data(), bytes.size()) == status.st_size);
      ::close(file);
    }
    ::close(parent);
  });
}

}  // namespace

void write_opening(JsonWriter& out, std::size_t count) {
  const Scratch scratch;
  const std::string data = scratch.path() + "/data";
  write_waiting(data, count);
  const double bare = seconds_to_read(data + "/tasks/pending");
  RealFileSystem files;
  const RealClock clock;
  NoLog log;
  const std::size_t before = resident_bytes();
  std::unique_ptr<FileQueue> queue;
  const double seconds = seconds_of([&] { queue = FileQueue::open(files, clock, log, data).value(); });
  require(queue->counts()->pending == count);
  const std::size_t grown = resident_bytes() - before;
  out.begin_map().key("tasks").integer(static_cast<std::int64_t>(count));
  out.key("seconds").real(seconds);
  out.key("bare_read_seconds").real(bare);
  out.key("times_bare").real(seconds / bare);
  out.key("resident_bytes").integer(static_cast<std::int64_t>(grown));
  out.key("resident_bytes_per_task").real(static_cast<double>(grown) / static_cast<double>(count));
  out.end_map();
}

}  // namespace kron::bench
