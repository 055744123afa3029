#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kron::jobs {

// Where in a crontab's command an unescaped `%` most likely ends it by mistake: inside quotes or $(…), in a format of
// date, or in an address such as a%20b. npos when there is none, or when it begins standard input as it should.
std::size_t mistaken_percent(std::string_view command);

// The comment lines directly above an entry, which say what it is for.
class CommentBlock {
 public:
  void add(std::string_view line);  // a line that begins with `#`
  void clear() { text_.clear(), is_header_ = false; }
  // As one line of at most 200 bytes, and empty from then on. Empty also for what is no description: column headings,
  // entries that are commented out, text that is not UTF-8.
  std::string take();

 private:
  std::string text_;
  bool is_header_ = false;
};

}  // namespace kron::jobs
