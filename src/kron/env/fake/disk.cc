#include "kron/env/fake/disk.h"

#include <algorithm>
#include <set>
#include <utility>

namespace kron::testing {
namespace {

using Entries = std::map<std::string, InodeId, std::less<>>;

void apply(const NameChange& change, Entries& entries) {
  if (change.inode) {
    entries.insert_or_assign(change.name, *change.inode);
  } else {
    entries.erase(change.name);
  }
}

}  // namespace

bool PendingChange::touches(InodeId directory) const {
  return std::any_of(names.begin(), names.end(), [&](const NameChange& c) { return c.directory == directory; });
}

Disk::Disk() {
  auto root = std::make_shared<Inode>();
  root->info.type = FileType::directory;
  root->info.mode = 0755;
  inodes_.push_back(std::move(root));
}

Inode& Disk::change(InodeId id) {
  std::shared_ptr<Inode>& inode = inodes_[id];
  if (inode.use_count() > 1) inode = std::make_shared<Inode>(*inode);
  return *inode;
}

std::optional<InodeId> Disk::find(InodeId directory, std::string_view name) const {
  if (name == ".") return directory;
  const Entries& entries = at(directory).entries;
  const auto found = entries.find(name);
  return found == entries.end() ? std::nullopt : std::optional(found->second);
}

std::optional<InodeId> Disk::find_path(std::string_view absolute_path) const {
  std::optional<InodeId> id = kRootInode;
  while (id && !absolute_path.empty()) {
    const std::size_t slash = std::min(absolute_path.find('/'), absolute_path.size());
    const std::string_view name = absolute_path.substr(0, slash);
    if (!name.empty()) id = find(*id, name);
    absolute_path.remove_prefix(std::min(slash + 1, absolute_path.size()));
  }
  return id;
}

void Disk::do_now(PendingChange change_of_names) {
  for (const NameChange& c : change_of_names.names) apply(c, change(c.directory).entries);
  pending_.push_back(std::move(change_of_names));
}

InodeId Disk::add(InodeId directory, std::string_view name, FileInfo info) {
  auto id = static_cast<InodeId>(inodes_.size());
  if (free_.empty()) {
    inodes_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  inodes_[id] = std::make_shared<Inode>();
  inodes_[id]->info = info;
  do_now({.names = {{directory, std::string(name), id}}});
  return id;
}

void Disk::empty(InodeId file) {
  Inode& inode = change(file);
  inode.data.clear();
  inode.info.size = inode.synced = 0;
}

void Disk::append(InodeId file, std::string_view bytes, Instant time) {
  Inode& inode = change(file);
  inode.data.append(bytes);
  inode.info.size = inode.data.size();
  inode.info.modified = time;
}

void Disk::remove(InodeId directory, std::string_view name) {
  do_now({.names = {{directory, std::string(name), std::nullopt}}});
}

void Disk::rename(InodeId from, std::string_view name, InodeId to, std::string_view to_name) {
  const InodeId inode = at(from).entries.find(name)->second;
  NameChange gone{from, std::string(name), std::nullopt};
  NameChange here{to, std::string(to_name), inode};
  if (from == to) {
    if (name != to_name) do_now({.names = {std::move(gone), std::move(here)}});
    return;
  }
  do_now({.names = {std::move(here)}});
  do_now({.names = {std::move(gone)}, .after_previous = true});
}

void Disk::exchange(InodeId directory, std::string_view name, std::string_view other) {
  const InodeId one = at(directory).entries.find(name)->second;
  const InodeId two = at(directory).entries.find(other)->second;
  do_now({.names = {{directory, std::string(name), two}, {directory, std::string(other), one}}});
}

void Disk::sync_file(InodeId file) {
  Inode& inode = change(file);
  if (!inode.sync_failed) inode.synced = inode.data.size();
}

void Disk::fail_file_sync(InodeId file) { change(file).sync_failed = true; }

void Disk::sync_directory(InodeId directory) {
  const auto needs = prerequisites();
  std::vector<bool> safe(pending_.size());
  for (std::size_t i = pending_.size(); i-- > 0;) {
    if (pending_[i].touches(directory) && !pending_[i].sync_failed) safe[i] = true;
    if (!safe[i]) continue;
    for (const std::size_t earlier : needs[i]) safe[earlier] = true;
  }
  std::vector<PendingChange> still_pending;
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    // A second half whose first half is safe stands on its own.
    if (pending_[i].after_previous && safe[i - 1]) pending_[i].after_previous = false;
    if (!safe[i]) {
      still_pending.push_back(std::move(pending_[i]));
      continue;
    }
    for (const NameChange& c : pending_[i].names) apply(c, change(c.directory).synced_entries);
  }
  pending_ = std::move(still_pending);
}

void Disk::fail_directory_sync(InodeId directory) {
  for (PendingChange& c : pending_) c.sync_failed |= c.touches(directory);
}

void Disk::sync_everything() {
  pending_.clear();
  for (InodeId id = 0; id < inodes_.size(); ++id) {
    Inode& inode = change(id);
    inode.synced = inode.data.size();
    inode.sync_failed = false;
    inode.synced_entries = inode.entries;
  }
}

void Disk::forget_nameless() {
  std::vector<bool> is_named(inodes_.size());
  is_named[kRootInode] = true;
  for (const auto& inode : inodes_) {
    for (const auto& [name, id] : inode->entries) is_named[id] = true;
    for (const auto& [name, id] : inode->synced_entries) is_named[id] = true;
  }
  for (const PendingChange& c : pending_) {
    for (const NameChange& name : c.names) {
      if (name.inode) is_named[*name.inode] = true;
    }
  }
  free_.clear();
  const auto nothing = std::make_shared<Inode>();
  for (InodeId id = 0; id < inodes_.size(); ++id) {
    if (is_named[id]) continue;
    inodes_[id] = nothing;
    free_.push_back(id);
  }
}

std::vector<std::vector<std::size_t>> Disk::prerequisites() const {
  std::vector<std::vector<std::size_t>> result(pending_.size());
  std::map<std::pair<InodeId, std::string_view>, std::size_t> latest;
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    if (pending_[i].after_previous) result[i].push_back(i - 1);
    for (const NameChange& c : pending_[i].names) {
      const auto [place, is_first] = latest.try_emplace({c.directory, c.name}, i);
      if (!is_first) result[i].push_back(std::exchange(place->second, i));
    }
  }
  return result;
}

Disk Disk::after_power_cut(const std::vector<bool>& kept, const std::map<InodeId, std::string>& contents) const {
  Disk disk = *this;
  disk.pending_.clear();
  std::set<InodeId> directories;
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    for (const NameChange& c : pending_[i].names) {
      directories.insert(c.directory);
      if (kept[i]) apply(c, disk.change(c.directory).synced_entries);
    }
  }
  for (const InodeId id : directories) {
    Inode& inode = disk.change(id);
    inode.entries = inode.synced_entries;
  }
  for (InodeId id = 0; id < disk.size(); ++id) {
    if (at(id).synced == at(id).data.size()) continue;
    Inode& inode = disk.change(id);
    if (const auto torn = contents.find(id); torn != contents.end()) inode.data = torn->second;
    inode.info.size = inode.synced = inode.data.size();
    inode.sync_failed = false;
  }
  return disk;
}

}  // namespace kron::testing
