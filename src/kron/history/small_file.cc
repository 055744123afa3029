#include "kron/history/small_file.h"

#include "kron/env/durable.h"
#include "kron/history/archive.h"

namespace kron::history {

Result<std::optional<std::string>> SmallFile::read() {
  Result<FileContents> contents = directory_.read(name_, kMostBytes);
  if (contents) return std::optional(std::move(contents->bytes));
  if (contents.error().code == Code::not_found) return std::optional<std::string>();
  return fail(contents.error());
}

Status SmallFile::write(std::string_view text) {
  if (broken_) return fail(*broken_);
  if (const Status room = check_room(directory_); !room) return room;
  const ReplaceResult replaced = durable_replace(file_system_, directory_, {.name = name_, .bytes = text});
  if (replaced.fatal) broken_ = replaced.status.error();
  return replaced.status;
}

}  // namespace kron::history
