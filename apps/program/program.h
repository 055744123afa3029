#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

// The beginning of a program that stays: krond, kron-operator.
namespace kron::program {

// main(): `run` in a world that it can trust. Whoever starts us may have closed the standard descriptors, and a file of
// ours that took the number 2 would be written to as the log. A reader of the log who goes away must not end us, nor a
// limit of file sizes: both are writes that fail. An exception is a bug, and has its own status.
int start(const char* name, int (*run)(int argc, char** argv), int argc, char** argv);

// Reads the flags, and a hidden --completion for the build, which installs what it prints. A status: end with it.
std::optional<int> read_flags(CLI::App& app, int argc, char** argv);

// A flag whose value is one of a few words; `choose` gets the place of the one that was given.
void add_choice(CLI::App& app, const char* name, const char* help, const std::vector<std::string>& words,
                std::function<void(std::size_t)> choose);

template <class Value>
void add_choice(CLI::App& app, const char* name, Value& value, const char* help,
                std::type_identity_t<std::vector<std::pair<std::string, Value>>> choices) {
  std::vector<std::string> words;
  for (const auto& [word, meaning] : choices) words.push_back(word);
  add_choice(app, name, help, words,
             [&value, choices = std::move(choices)](std::size_t place) { value = choices[place].second; });
}

}  // namespace kron::program
