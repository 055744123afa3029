#include <algorithm>

#include "kron/queue/file_queue.h"
#include "kron/queue/task_file.h"

// What FileQueue does a part at a time: lists, prunes, and the retention of finished tasks.
namespace kron {
namespace {

// So few are all read, and judged by what is in them; of more, only those whose files are old.
constexpr std::size_t kFewCompleted = 10'000;

std::int64_t hour_of(Instant time) { return epoch_seconds(time) / 3600; }

// Keeps the first ids behind `after`, as many as may be looked at.
void offer(ListProgress& scan, std::string_view id) {
  if (id <= scan.filter.after) return;
  if (scan.ids.size() == scan.most_ids && id > *scan.ids.rbegin()) {
    scan.is_cut = true;
    return;
  }
  scan.ids.emplace(id);
  if (scan.ids.size() <= scan.most_ids) return;
  scan.ids.erase(std::prev(scan.ids.end()));
  scan.is_cut = true;
}

bool wants(const TaskFilter& filter, TaskDirectory place) {
  return !filter.state || directory_of(*filter.state) == place;
}

}  // namespace

class FileQueue::PageOfTasks : public ListScan {
 public:
  PageOfTasks(FileQueue& queue, std::shared_ptr<ListProgress> progress)
      : queue_(queue), progress_(std::move(progress)) {}
  Result<std::optional<TaskPage>> next_part() override { return queue_.go_on(*progress_); }

 private:
  FileQueue& queue_;
  std::shared_ptr<ListProgress> progress_;
};

template <class Progress>
class FileQueue::Removal : public RemovalScan {
 public:
  Removal(FileQueue& queue, Progress progress) : queue_(queue), progress_(std::move(progress)) {}
  Result<bool> next_part() override { return queue_.go_on(progress_); }
  std::size_t removed() const override { return progress_.removed; }

 private:
  FileQueue& queue_;
  Progress progress_;
};

std::unique_ptr<ListScan> FileQueue::begin_list(const TaskFilter& filter) {
  const bool looks_at_all = !filter.state && filter.type.empty();
  const std::size_t most = looks_at_all ? std::min(filter.limit, kMostLooksAtAPage) : kMostLooksAtAPage;
  auto scan =
      std::make_shared<ListProgress>(ListProgress{.filter = filter, .most_ids = std::max<std::size_t>(most, 1)});
  lists_.push_back(scan);
  return std::make_unique<PageOfTasks>(*this, std::move(scan));
}

std::unique_ptr<RemovalScan> FileQueue::begin_prune(const PruneRequest& request) {
  return std::make_unique<Removal<PruneProgress>>(*this, PruneProgress{request});
}

std::unique_ptr<RemovalScan> FileQueue::begin_retention(const TaskRetention& keeps, Instant now) {
  return std::make_unique<Removal<RetentionProgress>>(*this, RetentionProgress{keeps, now});
}

Status FileQueue::look_at_names(ListProgress& scan) {
  if (wants(scan.filter, TaskDirectory::completed)) {
    if (!scan.names) {
      auto names = files_.read_names(TaskDirectory::completed);
      if (!names) return fail(names.error());
      scan.names = *std::move(names);
    }
    const auto more = scan.names->next(kNamesAtOnce, [&](std::string_view name) {
      if (const auto id = task_of_file_name(name)) offer(scan, *id);
    });
    if (!more) return fail(more.error());
    if (*more) return {};
    for (const std::string& id : scan.ended) offer(scan, id);
  }
  look_at_memory(scan);
  scan.names.reset();
  scan.has_ids = true;
  return {};
}

// In one go, and after the names of completed tasks: what has been retried since is seen here.
void FileQueue::look_at_memory(ListProgress& scan) {
  if (wants(scan.filter, TaskDirectory::pending)) {
    index_.each_id([&](std::string_view id) { offer(scan, id); });
    for (const auto& [id, spec] : held_back_) offer(scan, id);
    for (const std::string& id : unread_) offer(scan, id);
  }
  if (wants(scan.filter, TaskDirectory::running)) {
    for (const auto& [id, running] : running_) offer(scan, id);
  }
}

// True when the page is complete.
Result<bool> FileQueue::look_at_tasks(ListProgress& scan) {
  for (std::size_t reads = 0; reads < kReadsAtOnce && !scan.ids.empty(); ++reads) {
    scan.last = std::move(scan.ids.extract(scan.ids.begin()).value());
    auto task = find(scan.last);
    if (!task && task.error().code == Code::io) return fail(task.error());
    if (!task || !matches(scan.filter, task->first)) continue;
    scan.bytes += task->first.spec.data.size() + task->first.result.size();
    scan.page.push_back(std::move(task->first));
    if (scan.page.size() >= scan.filter.limit || scan.bytes >= kMostPageBytes) return true;
  }
  return scan.ids.empty();
}

Result<std::optional<TaskPage>> FileQueue::go_on(ListProgress& scan) {
  if (!scan.has_ids) {
    if (Status looked = look_at_names(scan); !looked) return fail(looked.error());
    return std::nullopt;
  }
  const auto is_complete = look_at_tasks(scan);
  if (!is_complete) return fail(is_complete.error());
  if (!*is_complete) return std::nullopt;
  const bool has_more = scan.is_cut || !scan.ids.empty() || scan.page.size() >= scan.filter.limit;
  if (has_more) scan.page.next = scan.last;
  return std::move(scan.page);
}

// A completed task wins over what a power cut may bring back of its earlier copies; without it they would run again.
// And its own name must be gone for good before anyone submits it anew.
Status FileQueue::remove_completed(std::span<const std::string> task_ids) {
  if (files_.stopped()) return fail(*files_.stopped());
  if (task_ids.empty()) return {};
  if (Status synced = files_.sync_removals(); !synced) return synced;
  for (const std::string& id : task_ids) {
    if (Status gone = files_.remove(TaskDirectory::completed, id); !gone) return gone;
  }
  return files_.sync(TaskDirectory::completed);
}

Result<bool> FileQueue::go_on(PruneProgress& scan) {
  if (files_.stopped()) return fail(*files_.stopped());
  if (scan.request.limit == 0) return true;
  if (!scan.names) {
    auto names = files_.read_names(TaskDirectory::completed);
    if (!names) return fail(names.error());
    scan.names = *std::move(names);
  }
  const std::size_t left = scan.request.limit - scan.removed;
  std::vector<std::string> old;
  const auto more = scan.names->next(std::min(kReadsAtOnce, left), [&](std::string_view name) {
    const auto id = task_of_file_name(name);
    if (!id) return;
    const auto task = read(TaskDirectory::completed, *id);
    if (task && is_pruned_by(scan.request, *task)) old.emplace_back(*id);
  });
  if (!more) return fail(more.error());
  if (Status removed = remove_completed(old); !removed) return fail(removed.error());
  scan.removed += old.size();
  return !*more || scan.removed == scan.request.limit;
}

Status FileQueue::count_completed(RetentionProgress& scan) {
  const auto more = scan.names->next(kNamesAtOnce, [&](std::string_view name) {
    const auto id = task_of_file_name(name);
    const auto modified = id ? files_.modified(TaskDirectory::completed, *id) : fail(Code::not_found, "");
    if (!modified) return;
    ++scan.written_in[hour_of(*modified)];
    ++scan.total;
  });
  if (!more) return fail(more.error());
  if (*more) return {};
  scan.names.reset();
  scan.has_counted = true;
  if (scan.total <= scan.keeps.most) return {};
  scan.too_many = scan.total - scan.keeps.most;
  std::size_t older = 0;
  for (const auto& [hour, count] : scan.written_in) {
    scan.last_hour = hour;
    older += count;
    if (older >= scan.too_many) break;
  }
  return {};
}

// A file's own time only saves reading it: it may have been copied, or written under a shifted clock.
Result<bool> FileQueue::is_old(const RetentionProgress& scan, const std::string& task_id, Instant modified) {
  const Instant before = scan.now - std::min(scan.keeps.age, Seconds(scan.now.time_since_epoch()));
  if (modified >= before && scan.total > kFewCompleted) return false;
  const auto task = read(TaskDirectory::completed, task_id);
  if (!task && task.error().code == Code::io) return fail(task.error());
  return task && is_pruned_by({.over_before = before}, *task);
}

Result<bool> FileQueue::go_on(RetentionProgress& scan) {
  if (files_.stopped()) return fail(*files_.stopped());
  if (!scan.names) {
    auto names = files_.read_names(TaskDirectory::completed);
    if (!names) return fail(names.error());
    scan.names = *std::move(names);
  }
  if (!scan.has_counted) {
    if (Status counted = count_completed(scan); !counted) return fail(counted.error());
    return false;
  }
  std::vector<std::string> gone;
  Status looked;
  // Of many, few are old enough to be read.
  const std::size_t at_once = scan.total > kFewCompleted ? 4 * kReadsAtOnce : kReadsAtOnce;
  const auto more = scan.names->next(at_once, [&](std::string_view name) {
    const auto id = task_of_file_name(name);
    const auto modified = id ? files_.modified(TaskDirectory::completed, *id) : fail(Code::not_found, "");
    if (!modified) return;
    const auto old = is_old(scan, std::string(*id), *modified);
    if (!old) looked = fail(old.error());
    const bool is_too_many = scan.too_many > 0 && hour_of(*modified) <= scan.last_hour;
    if (!(old && *old) && !is_too_many) return;
    if (scan.too_many > 0) --scan.too_many;
    gone.emplace_back(*id);
  });
  if (!more) return fail(more.error());
  if (!looked) return fail(looked.error());
  if (Status removed = remove_completed(gone); !removed) return fail(removed.error());
  scan.removed += gone.size();
  return !*more;
}

}  // namespace kron
