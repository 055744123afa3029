#include "kron/jobs/readable_name.h"

#include <algorithm>
#include <array>
#include <vector>

#include "kron/base/text.h"
#include "kron/jobs/definition.h"

namespace kron::jobs {
namespace {

constexpr std::size_t kMostReadableBytes = 60;
// What stands before the program that a line is about.
constexpr auto kPreparations = std::to_array<std::string_view>(
    {"cd", "test", "[", "[[", "if", "then", "command", "umask", "export", "sleep", "exit", "true", "."});
constexpr auto kWrappers =
    std::to_array<std::string_view>({"nice", "ionice", "sudo", "env", "exec", "nohup", "chronic", "{", "(", "!"});

template <class Words>
bool is_among(const Words& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

std::vector<std::string_view> words_in(std::string_view text) {
  constexpr std::string_view kBlank = " \t\n";
  std::vector<std::string_view> words;
  for (std::size_t at = text.find_first_not_of(kBlank); at != std::string_view::npos;
       at = text.find_first_not_of(kBlank, at)) {
    const std::size_t end = std::min(text.find_first_of(kBlank, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

// The words of the part of the line that does the work.
std::vector<std::string_view> main_words(std::string_view command) {
  std::vector<std::string_view> best;
  while (!command.empty()) {
    const std::size_t end = std::min(command.find_first_of("&|;"), command.size());
    std::vector<std::string_view> words = words_in(command.substr(0, end));
    command.remove_prefix(std::min(command.find_first_not_of("&|;", end), command.size()));
    std::erase_if(words,
                  [](std::string_view word) { return is_among(kWrappers, word) || word.find('=') != word.npos; });
    if (words.empty()) continue;
    if (!is_among(kPreparations, words.front())) return words;
    if (best.empty()) best = std::move(words);
  }
  return best;
}

std::string_view base_name(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  return path.substr(path.rfind('/') + 1);
}

bool is_usual(std::string_view word) {
  return std::ranges::all_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '/' || c == '-' || c == ':';
  });
}

}  // namespace

std::string readable_name(std::string_view command) {
  const std::vector<std::string_view> words = main_words(command);
  std::string name = words.empty() ? "" : std::string(base_name(words.front()));
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i].starts_with('-') || !is_usual(words[i]) || base_name(words[i]).empty()) continue;
    name += "-" + std::string(base_name(words[i]));
    break;
  }
  name = lower(name);
  std::ranges::replace_if(
      name, [](char c) { return !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_'); }, '-');
  name.resize(std::min(name.size(), kMostReadableBytes));
  const auto is_end = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  while (!name.empty() && !is_end(name.back())) name.pop_back();
  name.erase(name.begin(), std::ranges::find_if(name, is_end));
  return is_job_name(name) ? name : "job";
}

}  // namespace kron::jobs
