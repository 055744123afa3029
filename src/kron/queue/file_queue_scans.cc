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
void offer(ListScan& scan, std::string_view id) {
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

bool wants(const TaskFilter& filter, Place place) { return !filter.state || place_of(*filter.state) == place; }

}  // namespace

std::shared_ptr<ListScan> FileQueue::begin_list(const TaskFilter& filter) {
  const bool looks_at_all = !filter.state && filter.type.empty();
  const std::size_t most = looks_at_all ? std::min(filter.limit, kMostLooksAtAPage) : kMostLooksAtAPage;
  auto scan = std::make_shared<ListScan>(ListScan{.filter = filter, .most_ids = std::max<std::size_t>(most, 1)});
  lists_.push_back(scan);
  return scan;
}

Status FileQueue::look_at_names(ListScan& scan) {
  if (wants(scan.filter, Place::completed)) {
    if (!scan.names) {
      auto names = files_.read_names(Place::completed);
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
void FileQueue::look_at_memory(ListScan& scan) {
  if (wants(scan.filter, Place::pending)) {
    index_.each_id([&](std::string_view id) { offer(scan, id); });
    for (const auto& [id, spec] : held_back_) offer(scan, id);
    for (const std::string& id : unread_) offer(scan, id);
  }
  if (wants(scan.filter, Place::running)) {
    for (const auto& [id, running] : running_) offer(scan, id);
  }
}

// True when the page is complete.
Result<bool> FileQueue::look_at_tasks(ListScan& scan) {
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

Result<std::optional<TaskPage>> FileQueue::go_on(ListScan& scan) {
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

Result<std::vector<Task>> FileQueue::list(const TaskFilter& filter) {
  std::vector<Task> tasks;
  TaskFilter rest = filter;
  while (tasks.size() < filter.limit) {
    rest.limit = filter.limit - tasks.size();
    const auto scan = begin_list(rest);
    Result<std::optional<TaskPage>> page = std::nullopt;
    while (page && !*page) page = go_on(*scan);
    if (!page) return fail(page.error());
    std::ranges::move(**page, std::back_inserter(tasks));
    if ((*page)->next.empty()) break;
    rest.after = (*page)->next;
  }
  return tasks;
}

// A completed task outweighs what a power cut may bring back of its earlier copies; without it they would run again.
// And its own name must be gone for good before anyone submits it anew.
Status FileQueue::remove_completed(std::span<const std::string> task_ids) {
  if (files_.stopped()) return fail(*files_.stopped());
  if (task_ids.empty()) return {};
  if (Status synced = files_.sync_removals(); !synced) return synced;
  for (const std::string& id : task_ids) {
    if (Status gone = files_.remove(Place::completed, id); !gone) return gone;
  }
  return files_.sync(Place::completed);
}

Result<bool> FileQueue::go_on(PruneScan& scan) {
  if (files_.stopped()) return fail(*files_.stopped());
  if (!scan.names) {
    auto names = files_.read_names(Place::completed);
    if (!names) return fail(names.error());
    scan.names = *std::move(names);
  }
  const std::size_t left = scan.request.limit - scan.removed;
  std::vector<std::string> old;
  const auto more = scan.names->next(std::min(kReadsAtOnce, left), [&](std::string_view name) {
    const auto id = task_of_file_name(name);
    if (!id) return;
    const auto task = read(Place::completed, *id);
    if (task && is_pruned_by(scan.request, *task)) old.emplace_back(*id);
  });
  if (!more) return fail(more.error());
  if (Status removed = remove_completed(old); !removed) return fail(removed.error());
  scan.removed += old.size();
  return !*more || scan.removed == scan.request.limit;
}

Result<std::size_t> FileQueue::prune(const PruneRequest& request) {
  PruneScan scan{request};
  Result<bool> is_done = request.limit == 0;
  while (is_done && !*is_done) is_done = go_on(scan);
  if (!is_done) return fail(is_done.error());
  return scan.removed;
}

Status FileQueue::count_completed(RetentionScan& scan) {
  const auto more = scan.names->next(kNamesAtOnce, [&](std::string_view name) {
    const auto id = task_of_file_name(name);
    const auto modified = id ? files_.modified(Place::completed, *id) : fail(Code::not_found, "");
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
Result<bool> FileQueue::is_old(const RetentionScan& scan, const std::string& task_id, Instant modified) {
  const Instant before = scan.now - std::min(scan.keeps.age, Seconds(scan.now.time_since_epoch()));
  if (modified >= before && scan.total > kFewCompleted) return false;
  const auto task = read(Place::completed, task_id);
  if (!task && task.error().code == Code::io) return fail(task.error());
  return task && is_pruned_by({.over_before = before}, *task);
}

Result<bool> FileQueue::go_on(RetentionScan& scan) {
  if (files_.stopped()) return fail(*files_.stopped());
  if (!scan.names) {
    auto names = files_.read_names(Place::completed);
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
    const auto modified = id ? files_.modified(Place::completed, *id) : fail(Code::not_found, "");
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
