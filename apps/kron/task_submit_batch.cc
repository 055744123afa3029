#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "kron/base/text.h"
#include "kron/env/descriptor.h"
#include "kron/env/system_error.h"
#include "kron/queue/task_request.h"
#include "lines.h"
#include "progress_line.h"
#include "task_ids.h"
#include "task_session.h"
#include "task_verbs.h"

namespace kron::cli {
namespace {

constexpr char kSubmitBatch[] = "task submit-batch";
constexpr std::size_t kBatchTasks = 256;
constexpr std::size_t kBatchBytes = std::size_t{8} << 20;

// Gathers tasks and submits them in groups: each group costs about as much as one task alone.
class Batch {
 public:
  Batch(TaskClient& client, const SubmitBatchOptions& options)
      : client_(client),
        json_(options.json),
        progress_("kron task submit-batch", options.progress || ::isatty(STDERR_FILENO) == 1) {}

  // False when nothing more can be done.
  bool take(std::string_view line) {
    ++line_;
    const bool is_too_long = line.size() > kMostRequestBytes;  // and of it no more is known than what is here
    if (!is_too_long && trimmed(line).empty()) return true;
    auto task = is_too_long ? Result<NewTask>(fail(Code::invalid, "the line is longer than " +
                                                                      std::to_string(kMostRequestBytes) + " bytes"))
                            : parse_new_task(line);
    if (task && task->id.empty()) task->id = new_task_id(task->type);
    entries_.push_back({line_, std::move(task)});
    bytes_ += line.size();
    return (entries_.size() < kBatchTasks && bytes_ < kBatchBytes) || submit();
  }

  bool submit() {
    std::vector<NewTask> tasks;
    for (const Entry& entry : entries_) {
      if (entry.task) tasks.push_back(*entry.task);
    }
    const auto answers = client_.submit(tasks);
    std::size_t next = 0;
    bool goes_on = true;
    for (const Entry& entry : entries_) {
      if (!entry.task) {
        refuse_line(entry.line, "", entry.task.error());
        continue;
      }
      const auto& answer = answers[next++];
      if (answer) {
        tell(entry.line, *answer);
      } else {
        refuse_line(entry.line, entry.task->id, answer.error());
        goes_on = goes_on && answer.error().code != Code::io && answer.error().code != Code::unreachable;
      }
    }
    entries_.clear();
    bytes_ = 0;
    std::fflush(stdout);
    progress_.show(std::to_string(line_) + " lines");
    return goes_on;
  }

  int finish() {
    progress_.clear();
    if (!json_) {
      std::printf("%zu accepted, %zu already known, %zu duplicate, %zu in conflict, %zu refused\n", count_[0],
                  count_[1], count_[2], count_[3], refused_);
    }
    return status_;
  }

 private:
  struct Entry {
    std::size_t line;
    Result<NewTask> task;
  };

  void tell(std::size_t line, const SubmitAnswer& answer) {
    ++count_[static_cast<std::size_t>(answer.outcome)];
    if (json_) {
      std::printf("%s\n", outcome_json(answer.task_id, name_of(answer.outcome), line).c_str());
    }
    if (answer.outcome != SubmitOutcome::conflict) return;
    status_ = std::max(status_, exit_status(Code::conflict));
    if (!json_) about_line(line, {Code::conflict, "task " + answer.task_id + " is there with another payload"});
  }

  void refuse_line(std::size_t line, std::string_view task_id, const Error& error) {
    ++refused_;
    status_ = std::max(status_, exit_status(error.code));
    if (json_) {
      std::printf("%s\n", task_error_json(task_id, error, line).c_str());
    } else {
      about_line(line, error);
    }
  }

  void about_line(std::size_t line, const Error& error) {
    progress_.clear();
    complain(std::string(kSubmitBatch) + ": line " + std::to_string(line), error);
  }

  TaskClient& client_;
  bool json_;
  ProgressLine progress_;
  std::size_t line_ = 0;
  std::vector<Entry> entries_;
  std::size_t bytes_ = 0;
  std::array<std::size_t, 4> count_{};  // by SubmitOutcome
  std::size_t refused_ = 0;
  int status_ = 0;
};

Error cannot_read(const std::string& path) {
  return {Code::unreadable, system_error("read", path == "-" ? "standard input" : path, errno).message};
}

bool has_input(int fd) {
  pollfd polled{fd, POLLIN, 0};
  return ::poll(&polled, 1, 0) != 0;
}

// Cuts the input into lines; of one that is too long only as much is kept as shows it. What is there is submitted
// before more is waited for, so a program can talk to us over two pipes.
Status read_lines(int fd, const std::string& path, Batch& batch) {
  std::string line;
  std::vector<char> chunk(std::size_t{1} << 16);
  for (;;) {
    if (!has_input(fd) && !batch.submit()) return {};
    const ssize_t size = uninterrupted([&] { return ::read(fd, chunk.data(), chunk.size()); });
    if (size < 0) return fail(cannot_read(path));
    if (size == 0) break;
    for (std::string_view text(chunk.data(), static_cast<std::size_t>(size)); !text.empty();) {
      const std::size_t newline = text.find('\n');
      line += text.substr(0, newline).substr(0, kMostRequestBytes + 1 - line.size());
      if (newline == std::string_view::npos) break;
      if (!batch.take(line)) return {};
      line.clear();
      text.remove_prefix(newline + 1);
    }
  }
  if (line.empty() || batch.take(line)) batch.submit();
  return {};
}

}  // namespace

int task_submit_batch(const SubmitBatchOptions& options) {
  Descriptor file;
  if (options.file != "-") {
    file = Descriptor(::open(options.file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return refuse(kSubmitBatch, cannot_read(options.file), options.json);
  }
  const auto session = TaskSession::open(options.place, true);
  if (!session) return refuse(kSubmitBatch, session.error(), options.json);
  Batch batch((*session)->client(), options);
  const Status read = read_lines(file ? file.get() : STDIN_FILENO, options.file, batch);
  const int status = batch.finish();
  return read ? status : std::max(status, refuse(kSubmitBatch, read.error(), options.json));
}

}  // namespace kron::cli
