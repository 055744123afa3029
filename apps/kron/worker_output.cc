#include "worker_output.h"

#include <algorithm>
#include <string>
#include <utility>

#include "kron/base/text.h"
#include "kron/queue/task_request.h"

namespace kron::cli {
namespace {

class StageReader {
 public:
  Status read(Directory& directory, const std::string& prefix) {
    std::vector<std::pair<std::string, FileType>> entries;
    const Status listed =
        directory.list([&](std::string_view name, FileType type) { entries.emplace_back(name, type); });
    if (!listed) return listed;
    std::ranges::sort(entries);
    for (const auto& [name, type] : entries) {
      const std::string path = prefix + name;
      if (Status read =
              type == FileType::directory ? read_directory(directory, name, path) : read_file(directory, name, path);
          !read) {
        return read;
      }
    }
    return {};
  }

  std::vector<StagedFile> take() { return std::move(files_); }

 private:
  Status read_directory(Directory& parent, const std::string& name, const std::string& path) {
    // A commit refuses deeper paths anyway; this keeps us from following them.
    if (static_cast<std::size_t>(std::ranges::count(path, '/')) >= kMostStagedDepth) {
      return fail(Code::invalid, "staged directories are nested deeper than " + std::to_string(kMostStagedDepth));
    }
    const auto directory = parent.open_directory(name);
    if (!directory) return fail(directory.error());
    return read(**directory, path + "/");
  }

  Status read_file(Directory& parent, const std::string& name, const std::string& path) {
    if (files_.size() == kMostStagedFiles) {
      return fail(Code::invalid, "more than " + std::to_string(kMostStagedFiles) + " staged files; pack them");
    }
    auto contents = parent.read(name, kMostStagedBytes - bytes_);
    if (!contents) {
      const bool is_fault = contents.error().code == Code::io;
      return fail(is_fault ? Code::io : Code::invalid, "staged " + quoted(path, 100) + ": " + contents.error().message);
    }
    bytes_ += contents->bytes.size();
    files_.push_back({path, std::move(contents->bytes)});
    return {};
  }

  std::vector<StagedFile> files_;
  std::size_t bytes_ = 0;
};

}  // namespace

Result<std::vector<StagedFile>> read_staged_files(Directory& stage) {
  StageReader reader;
  if (Status read = reader.read(stage, ""); !read) return fail(read.error());
  return reader.take();
}

Result<std::vector<NewTask>> read_follow_ups(Directory& place, std::string_view name) {
  std::vector<NewTask> tasks;
  const auto contents = place.read(name, kMostFollowUpBytes + kMostRequestBytes);
  if (!contents && contents.error().code == Code::not_found) return tasks;
  if (!contents) return fail(contents.error());
  std::string_view rest = contents->bytes;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (trimmed(line).empty()) continue;
    auto task = parse_new_task(line);
    if (task && task->id.empty()) task = fail(Code::invalid, "a follow-up needs a taskId, so that it is made once");
    if (!task) {
      return fail(Code::invalid, "follow-ups, line " + std::to_string(number) + ": " + task.error().message);
    }
    tasks.push_back(*std::move(task));
  }
  return tasks;
}

}  // namespace kron::cli
