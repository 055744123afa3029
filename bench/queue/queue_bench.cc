#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <malloc.h>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "ground.h"
#include "kron/env/durable.h"
#include "kron/json/writer.h"
#include "kron/queue/file_queue.h"
#include "kron/queue/task_file.h"
#include "kron/testing/request_batcher.h"
#include "opening.h"

// Durable submits and whole lives of tasks per second, each beside the bare cost of the same file operations in the
// same run; opening a queue beside reading the same files; and the memory of a million tasks that wait.
// QUEUE_BENCH_DIR says on which disk (default: the working directory). With an argument N only the opening, of N tasks.
namespace kron::bench {
namespace {

constexpr std::size_t kMostAtOnce = 256;

struct Bench {
  RealFileSystem files;
  RealClock clock;
  NoLog log;
  Scratch scratch;
  std::unique_ptr<FileQueue> queue = FileQueue::open(files, clock, log, scratch.path() + "/data").value();
};

// Runs `each(i)` for all i below `count` on so many threads, as fast as they go.
void on_threads(std::size_t threads, std::size_t count, auto&& each) {
  std::atomic<std::size_t> next{0};
  std::vector<std::jthread> running;
  for (std::size_t t = 0; t < threads; ++t) {
    running.emplace_back([&] {
      for (std::size_t i = next++; i < count; i = next++) each(i);
    });
  }
}

// The same files, in groups of the same arrival, by durable_batch alone.
double bare_creates_per_second(std::size_t threads, std::size_t batch, std::size_t count) {
  Bench bench;
  const auto directory = bench.files.open_directory(bench.scratch.path()).value();
  const std::string bytes = task_text(new_task(task_number(0), 1, now(bench.clock)));
  using Names = std::vector<std::string>;
  testing::RequestBatcher<Names, bool> group(kMostAtOnce, [&](std::span<const Names> arrived) {
    std::vector<Replacement> replacements;
    for (const Names& names : arrived) {
      for (const std::string& name : names) replacements.push_back({name, bytes, 0600, IfTaken::refuse});
    }
    const BatchResult result = durable_batch(bench.files, *directory, replacements);
    return std::vector<bool>(arrived.size(), !result.fatal.has_value());
  });
  const double seconds = seconds_of([&] {
    on_threads(threads, count / batch, [&](std::size_t i) {
      Names names;
      for (std::size_t k = 0; k < batch; ++k) names.push_back(task_file_name(task_number(i * batch + k).id));
      require(group.ask(std::move(names)));
    });
  });
  return static_cast<double>(count) / seconds;
}

struct Measured {
  double per_second = 0;
  double syncs_per_task = 0;
};

Measured submits_per_second(std::size_t threads, std::size_t batch, std::size_t count) {
  Bench bench;
  using Tasks = std::vector<NewTask>;
  testing::RequestBatcher<Tasks, bool> group(kMostAtOnce, [&](std::span<const Tasks> arrived) {
    Tasks all;
    for (const Tasks& tasks : arrived) all.insert(all.end(), tasks.begin(), tasks.end());
    for (const auto& answer : bench.queue->submit(all)) require(answer.has_value());
    return std::vector<bool>(arrived.size(), true);
  });
  const double seconds = seconds_of([&] {
    on_threads(threads, count / batch, [&](std::size_t i) {
      Tasks tasks;
      for (std::size_t k = 0; k < batch; ++k) tasks.push_back(task_number(i * batch + k));
      require(group.ask(std::move(tasks)));
    });
  });
  return {static_cast<double>(count) / seconds, static_cast<double>(bench.queue->syncs()) / static_cast<double>(count)};
}

// Workers that lease with start, and commit: each step of all that arrive together is one group.
Measured lives_per_second(std::size_t workers, std::size_t count) {
  Bench bench;
  std::mutex queue_mutex;
  std::vector<NewTask> tasks;
  for (std::size_t i = 0; i < count; ++i) tasks.push_back(task_number(i));
  for (const auto& answer : bench.queue->submit(tasks)) require(answer.has_value());
  const auto syncs_before = bench.queue->syncs();
  testing::RequestBatcher<int, std::optional<Lease>> leases(kMostAtOnce, [&](std::span<const int> arrived) {
    const std::scoped_lock lock(queue_mutex);
    auto found = bench.queue->lease({.worker = "w", .count = arrived.size(), .starts = true}).value();
    std::vector<std::optional<Lease>> answers(found.begin(), found.end());
    answers.resize(arrived.size());
    return answers;
  });
  testing::RequestBatcher<CommitRequest, bool> commits(kMostAtOnce, [&](std::span<const CommitRequest> arrived) {
    const std::scoped_lock lock(queue_mutex);
    for (const auto& answer : bench.queue->commit(arrived)) require(answer->outcome == LeaseOutcome::accepted);
    return std::vector<bool>(arrived.size(), true);
  });
  const double seconds = seconds_of([&] {
    on_threads(workers, count, [&](std::size_t) {
      const auto lease = leases.ask(0);
      require(lease.has_value());
      commits.ask({.key = lease->key, .result = "ok"});
    });
  });
  return {static_cast<double>(count) / seconds,
          static_cast<double>(bench.queue->syncs() - syncs_before) / static_cast<double>(count)};
}

// What a life costs in files: a durable create in running/ and one in completed/, and two removals. With `has_record` a
// third one between them, in running/ again, as commits need that leave something to do.
double bare_lives_per_second(std::size_t workers, std::size_t count, bool has_record) {
  Bench bench;
  const auto root = bench.files.open_directory(bench.scratch.path()).value();
  std::vector<std::unique_ptr<Directory>> places;
  for (const char* name : {"p", "r", "c"}) {
    require(root->make_directory(name, 0700).has_value());
    places.push_back(root->open_directory(name).value());
  }
  const std::string bytes = task_text(new_task(task_number(0), 1, now(bench.clock)));
  const auto names_of = [&](std::span<const std::size_t> numbers) {
    std::vector<std::string> names;
    for (const std::size_t number : numbers) names.push_back(task_file_name(task_number(number).id));
    return names;
  };
  const auto write = [&](Directory& to, const std::vector<std::string>& names) {
    std::vector<Replacement> replacements;
    for (const std::string& name : names) replacements.push_back({name, bytes, 0600, IfTaken::replace});
    require(!durable_batch(bench.files, to, replacements).fatal);
  };
  std::vector<std::size_t> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = i;
  write(*places[0], names_of(all));
  std::mutex mutex;
  const auto remove = [&](Directory& from, const std::vector<std::string>& names) {
    for (const std::string& name : names) require(from.remove(name).has_value());
  };
  testing::RequestBatcher<std::size_t, bool> leases(kMostAtOnce, [&](std::span<const std::size_t> arrived) {
    const std::scoped_lock lock(mutex);
    const auto names = names_of(arrived);
    write(*places[1], names);
    remove(*places[0], names);
    return std::vector<bool>(arrived.size(), true);
  });
  testing::RequestBatcher<std::size_t, bool> commits(kMostAtOnce, [&](std::span<const std::size_t> arrived) {
    const std::scoped_lock lock(mutex);
    const auto names = names_of(arrived);
    if (has_record) write(*places[1], names);
    write(*places[2], names);
    remove(*places[1], names);
    return std::vector<bool>(arrived.size(), true);
  });
  const double seconds = seconds_of([&] {
    on_threads(workers, count, [&](std::size_t i) {
      require(leases.ask(i));
      require(commits.ask(i));
    });
  });
  return static_cast<double>(count) / seconds;
}

double index_bytes_per_task(std::size_t count) {
  const auto used = [] { return mallinfo2().uordblks + mallinfo2().hblkhd; };
  const std::size_t before = used();
  PendingIndex index(Seconds(60));
  for (std::size_t i = 0; i < count; ++i) {
    const NewTask task = task_number(i);
    index.add({task.id, task.type, 0, instant_of(static_cast<std::int64_t>(1'767'225'600 + i / 1000)), i});
  }
  return static_cast<double>(used() - before) / static_cast<double>(count);
}

// Ours and the bare cost by turns, the best of each: other users of the disk disturb both alike.
void report(JsonWriter& out, std::string_view name, auto&& ours, auto&& bare) {
  Measured best;
  double best_bare = 0;
  for (int round = 0; round < (is_brief() ? 1 : 3); ++round) {
    const Measured measured = ours();
    if (measured.per_second > best.per_second) best = measured;
    best_bare = std::max(best_bare, bare());
  }
  out.key(name).begin_map();
  out.key("per_second").real(best.per_second);
  out.key("bare_per_second").real(best_bare);
  out.key("share_of_bare").real(best.per_second / best_bare);
  out.key("syncs_per_task").real(best.syncs_per_task);
  out.end_map();
}

void measure_all() {
  const std::size_t scale = is_brief() ? 1 : 5;
  JsonWriter out;
  out.begin_map().key("submit").begin_map();
  struct Case {
    const char* name;
    std::size_t threads;
    std::size_t batch;
    std::size_t count;
  };
  for (const Case& c : {Case{"1 submitter", 1, 1, 25}, Case{"10 submitters", 10, 1, 100},
                        Case{"100 submitters", 100, 1, 200}, Case{"batches of 100", 1, 100, 200}}) {
    const std::size_t count = c.count * scale;
    report(
        out, c.name, [&] { return submits_per_second(c.threads, c.batch, count); },
        [&] { return bare_creates_per_second(c.threads, c.batch, count); });
  }
  out.end_map();
  const std::size_t lives = 100 * scale;
  for (const bool has_record : {false, true}) {
    report(
        out, has_record ? "lease to done, 10 workers, beside three writes" : "lease to done, 10 workers",
        [&] { return lives_per_second(10, lives); }, [&] { return bare_lives_per_second(10, lives, has_record); });
  }
  out.key("opening");
  write_opening(out, is_brief() ? 2'000 : 100'000);
  const std::size_t waiting = is_brief() ? 10'000 : 1'000'000;
  out.key("waiting tasks in memory").begin_map();
  out.key("tasks").integer(static_cast<std::int64_t>(waiting));
  out.key("bytes_per_task").real(index_bytes_per_task(waiting));
  out.end_map();
  std::puts(out.end_map().take().c_str());
}

}  // namespace
}  // namespace kron::bench

int main(int argc, char** argv) {
  if (argc == 1) {
    kron::bench::measure_all();
    return 0;
  }
  kron::JsonWriter out;
  kron::bench::write_opening(out, std::max(std::strtoull(argv[1], nullptr, 10), 1ULL));
  std::puts(out.take().c_str());
}
