#include "kron/env/fake/survivors.h"

#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <string_view>
#include <utility>

#include "kron/base/text.h"

namespace kron::testing {
namespace {

using Random = std::mt19937_64;

enum class Tear : int { none_there, all_there, zeros, start, start_and_zeros, zeros_and_end, all_but_one };
constexpr int kTears = 7;

// What is left of `file` when its unsynced bytes are torn at `cut` (counted from the first unsynced byte).
std::string torn(const Inode& file, Tear tear, std::size_t cut) {
  std::string bytes = file.data;
  const std::size_t at = file.synced + cut;
  const auto middle = bytes.begin() + static_cast<std::ptrdiff_t>(at);
  switch (tear) {
    case Tear::none_there:
      bytes.resize(file.synced);
      break;
    case Tear::all_there:
      break;
    case Tear::zeros:
      std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(file.synced), bytes.end(), '\0');
      break;
    case Tear::start:
      bytes.resize(at);
      break;
    case Tear::start_and_zeros:
      std::fill(middle, bytes.end(), '\0');
      break;
    case Tear::zeros_and_end:
      std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(file.synced), middle, '\0');
      break;
    case Tear::all_but_one:
      bytes.pop_back();
      break;
  }
  return bytes;
}

std::vector<std::string> representative_tears(const Inode& file) {
  std::set<std::string> tears;
  const std::size_t half = (file.data.size() - file.synced) / 2;
  for (int tear = 0; tear < kTears; ++tear) tears.insert(torn(file, static_cast<Tear>(tear), half));
  return {tears.begin(), tears.end()};
}

std::vector<InodeId> unsynced_files(const Disk& disk) {
  std::vector<InodeId> files;
  for (InodeId id = 0; id < disk.size(); ++id) {
    if (disk.at(id).synced < disk.at(id).data.size()) files.push_back(id);
  }
  return files;
}

void mark_reachable(const Disk& disk, InodeId directory, std::vector<bool>& reachable) {
  for (const auto& [name, id] : disk.at(directory).entries) {
    if (reachable[id]) continue;
    reachable[id] = true;
    if (disk.at(id).info.type == FileType::directory) mark_reachable(disk, id, reachable);
  }
}

class Search {
 public:
  Search(const Disk& disk, std::size_t most)
      : disk_(disk), most_(most), needs_(disk.prerequisites()), unsynced_(unsynced_files(disk)) {
    for (const InodeId id : unsynced_) tears_[id] = representative_tears(disk.at(id));
    for (const PendingChange& change : disk.pending()) {
      for (const NameChange& c : change.names) places_.try_emplace({c.directory, c.name}, places_.size());
    }
  }

  // False when there are more than `most`.
  bool collect_all() {
    std::vector<bool> kept;
    return choose_names(kept);
  }

  void sample(Random& random) {
    found_.clear();
    const std::size_t changes = needs_.size();
    for (std::size_t count = 0; count <= changes && found_.size() < most_ / 2; ++count) {
      std::vector<bool> kept(changes);
      std::fill_n(kept.begin(), count, true);
      add_sample(kept, [](const Inode& file) { return file.data; });
      add_sample(kept, [&](const Inode& file) { return torn(file, random_tear(random), cut_of(file, random)); });
    }
    // A draw may repeat; a product this large is not exhausted by a few draws more than are wanted.
    for (std::size_t draws = 0; draws < 4 * most_ && found_.size() < most_; ++draws) {
      add_sample(random_names(random),
                 [&](const Inode& file) { return torn(file, random_tear(random), cut_of(file, random)); });
    }
  }

  std::vector<Survivor> found() const {
    std::vector<Survivor> survivors;
    for (const auto& [key, survivor] : found_) survivors.push_back(survivor);
    return survivors;
  }

 private:
  // What can be told apart afterwards: the inode of every name that was in question, and the contents.
  using Key = std::pair<std::vector<std::optional<InodeId>>, std::map<InodeId, std::string>>;

  void add(const Survivor& survivor) {
    std::vector<std::optional<InodeId>> names(places_.size());
    for (const auto& [name, place] : places_) {
      const auto& entries = disk_.at(name.first).synced_entries;
      if (const auto found = entries.find(name.second); found != entries.end()) names[place] = found->second;
    }
    for (std::size_t i = 0; i < survivor.kept.size(); ++i) {
      if (!survivor.kept[i]) continue;
      for (const NameChange& c : disk_.pending()[i].names) names[places_.at({c.directory, c.name})] = c.inode;
    }
    found_.try_emplace(Key(std::move(names), survivor.contents), survivor);
  }

  bool may_keep(const std::vector<bool>& kept, std::size_t change) const {
    return std::all_of(needs_[change].begin(), needs_[change].end(), [&](std::size_t i) { return kept[i]; });
  }

  bool choose_names(std::vector<bool>& kept) {
    if (kept.size() == needs_.size()) {
      Survivor survivor{kept, {}};
      return choose_contents(survivor, reachable_unsynced(kept), 0);
    }
    const bool may = may_keep(kept, kept.size());
    kept.push_back(false);
    bool complete = choose_names(kept);
    kept.back() = true;
    complete = complete && (!may || choose_names(kept));
    kept.pop_back();
    return complete;
  }

  bool choose_contents(Survivor& survivor, const std::vector<InodeId>& files, std::size_t next) {
    if (next == files.size()) {
      add(survivor);
      return found_.size() <= most_;
    }
    for (const std::string& contents : tears_[files[next]]) {
      survivor.contents[files[next]] = contents;
      if (!choose_contents(survivor, files, next + 1)) return false;
    }
    return true;
  }

  std::vector<InodeId> reachable_unsynced(const std::vector<bool>& kept) const {
    if (unsynced_.empty()) return {};
    const Disk after = disk_.after_power_cut(kept, {});
    std::vector<bool> reachable(disk_.size());
    mark_reachable(after, kRootInode, reachable);
    std::vector<InodeId> files;
    std::copy_if(unsynced_.begin(), unsynced_.end(), std::back_inserter(files),
                 [&](InodeId id) { return reachable[id]; });
    return files;
  }

  template <class Contents>
  void add_sample(std::vector<bool> kept, Contents contents_of) {
    Survivor survivor{std::move(kept), {}};
    for (const InodeId id : reachable_unsynced(survivor.kept)) survivor.contents[id] = contents_of(disk_.at(id));
    add(survivor);
  }

  std::vector<bool> random_names(Random& random) const {
    // Few kept, half, most: an even chance for each change would hardly ever keep a long chain.
    const std::uint64_t of_eight = std::uint64_t{1} + random() % 7;
    std::vector<bool> kept;
    for (std::size_t i = 0; i < needs_.size(); ++i) kept.push_back(random() % 8 < of_eight && may_keep(kept, i));
    return kept;
  }

  static Tear random_tear(Random& random) { return static_cast<Tear>(random() % kTears); }

  static std::size_t cut_of(const Inode& file, Random& random) { return random() % (file.data.size() - file.synced); }

  const Disk& disk_;
  std::size_t most_;
  std::vector<std::vector<std::size_t>> needs_;
  std::vector<InodeId> unsynced_;
  std::map<InodeId, std::vector<std::string>> tears_;
  std::map<std::pair<InodeId, std::string_view>, std::size_t> places_;
  std::map<Key, Survivor> found_;
};

std::string text_of(const PendingChange& change) {
  std::string text;
  for (const NameChange& c : change.names) text += (c.inode ? " +" : " -") + c.name;
  return text;
}

}  // namespace

Survivors survivors_of(const Disk& disk, std::size_t most, std::uint64_t seed) {
  Search search(disk, most);
  if (search.collect_all()) return {search.found(), true};
  Random random(seed);
  search.sample(random);
  return {search.found(), false};
}

std::string describe(const Disk& disk, const Survivor& survivor) {
  std::string text;
  for (std::size_t i = 0; i < survivor.kept.size(); ++i) {
    text += (survivor.kept[i] ? "kept" : "lost") + text_of(disk.pending()[i]) + "; ";
  }
  for (const auto& [id, contents] : survivor.contents) {
    text += "file " + std::to_string(id) + " has " + std::to_string(contents.size()) + " of " +
            std::to_string(disk.at(id).data.size()) + " bytes, " + quoted(contents, 60) + "; ";
  }
  return text;
}

}  // namespace kron::testing
