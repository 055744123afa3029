#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kron/json/document.h"
#include "screen_times.h"

// How answers of krond look to people.
namespace kron::cli {

// Members of a JSON object. What is missing or of another kind is empty, 0 or null: this is for showing, not for
// deciding.
std::string text_in(const Node& map, std::string_view key);
std::int64_t number_in(const Node& map, std::string_view key);
bool flag_in(const Node& map, std::string_view key);
const Node::List& list_in(const Node& map, std::string_view key);

// Names and words of others as they are, unless a terminal would obey them.
std::string harmless(std::string_view text);

// `name        value`; nothing when the value is empty.
void print_field(std::string_view name, std::string_view value);

// Columns as wide as their widest cell.
class Table {
 public:
  explicit Table(std::vector<std::string> heads) { rows_.push_back(std::move(heads)); }

  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  void print() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// A dash where a table has nothing to show.
std::string or_dash(std::string text);

// `file:line:column`; the file alone when the whole of it is meant.
std::string place_in(const Node& problem);

// An entry of the run history in a few words: `running`, `exit 0`, `timed out after 2s`, `missed (deadline)`,
// `3 passed over`.
std::string result_of(const Node& run);
// Of a run that has ended: whether it counts as failed, or nobody knows how it ended.
bool has_failed(const Node& run);
// How long it took; empty when that is not known.
std::string duration_of(const Node& run);
// When it started; when it was due, for what did not run.
std::string time_of(const Node& run);
// What a job waits for, of its `waiting`: `the run before it`, `a slot`, `a slot of db`.
std::string awaited_by(const Node& waiting);
// All that is known of it, a line each.
void print_run(const Node& run, const ScreenTimes& times);

}  // namespace kron::cli
