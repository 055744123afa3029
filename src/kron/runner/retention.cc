#include "kron/runner/retention.h"

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace kron::runner {

Result<std::size_t> remove_old_runs(RunFiles& files, const Retention& retention, const std::set<std::string>& active,
                                    Instant now, const std::stop_token& stop, Stayed* stayed) {
  std::vector<std::pair<time_t, std::string>> ended;
  const Status listed = files.list([&](std::string_view run_id) {
    std::string id(run_id);
    struct stat info {};
    if (active.contains(id) || ::fstatat(files.descriptor(), id.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return;
    ended.emplace_back(info.st_mtime, std::move(id));
  });
  if (!listed) return fail(listed.error());
  std::ranges::sort(ended);
  const std::size_t beyond = ended.size() - std::min(ended.size(), retention.most);
  const auto oldest = static_cast<time_t>((now - retention.age).time_since_epoch().count());
  std::size_t removed = 0;
  for (std::size_t i = 0; i < ended.size() && (i < beyond || ended[i].first < oldest); ++i) {
    if (stop.stop_requested()) break;
    if (const Status gone = files.remove(ended[i].second); gone) {
      ++removed;
    } else if (stayed != nullptr) {
      stayed->add(gone.error());
    }
  }
  return removed;
}

}  // namespace kron::runner
