#include "kron/runner/exec/env_file.h"

#include <cstring>

#include "kron/base/secret_files.h"

namespace kron::exec {
namespace {

bool is_blank_in_env(char c) { return c == ' ' || c == '\t'; }

bool is_name_byte(char c, bool is_first) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_') return true;
  return !is_first && c >= '0' && c <= '9';
}

bool is_variable_name(const char* name, std::size_t size) {
  if (size == 0) return false;
  for (std::size_t i = 0; i < size; ++i) {
    if (!is_name_byte(name[i], i == 0)) return false;
  }
  return true;
}

// In double quotes a backslash stands before these for them, and before any other byte for itself.
bool is_escaped_in_env(char c) { return c == '"' || c == '\\' || c == '$' || c == '`'; }

}  // namespace

EnvFile::EnvFile(char* bytes, std::size_t size) : at_(bytes), end_(bytes + size) {
  if (size > kMostSecretFile) problem_ = "the file is longer than 64 KiB";
}

char* EnvFile::fail(const char* problem) {
  problem_ = problem;
  return nullptr;
}

char* EnvFile::next() {
  while (problem_ == nullptr && at_ != end_) {
    if (++line_ > kMostEnvLines) return fail("the file has more than 1000 lines");
    char* begin = at_;
    void* newline = std::memchr(begin, '\n', static_cast<std::size_t>(end_ - begin));
    char* end = newline != nullptr ? static_cast<char*>(newline) : end_;
    at_ = newline != nullptr ? end + 1 : end_;
    if (std::memchr(begin, 0, static_cast<std::size_t>(end - begin)) != nullptr) return fail("a NUL byte");
    if (end != begin && end[-1] == '\r') --end;
    while (begin != end && is_blank_in_env(*begin)) ++begin;
    while (begin != end && is_blank_in_env(end[-1])) --end;
    if (begin == end || *begin == '#' || *begin == ';') continue;
    return variable_in(begin, end);
  }
  return nullptr;
}

char* EnvFile::variable_in(char* begin, char* end) {
  auto* const equals = static_cast<char*>(std::memchr(begin, '=', static_cast<std::size_t>(end - begin)));
  if (equals == nullptr) return fail("there is no = in it; expected NAME=value");
  char* name_end = equals;
  while (name_end != begin && is_blank_in_env(name_end[-1])) --name_end;
  const std::size_t name_size = static_cast<std::size_t>(name_end - begin);
  if (name_size > kMostVariableName) return fail("the name of a variable has more than 128 bytes");
  if (!is_variable_name(begin, name_size)) {
    return fail("what stands before = is no name of a variable: letters, digits and _, no digit first");
  }
  *name_end = '=';
  if (const char* problem = take_value(equals + 1, end, name_end + 1)) return fail(problem);
  return begin;
}

// Moves the value to where it belongs; it never grows, and the byte behind it is one of the line's end.
const char* EnvFile::take_value(const char* from, const char* end, char* to) {
  while (from != end && is_blank_in_env(*from)) ++from;
  const char quote = from != end && (*from == '"' || *from == '\'') ? *from++ : '\0';
  while (from != end && (quote == '\0' || *from != quote)) {
    if (quote == '"' && *from == '\\' && end - from > 1 && is_escaped_in_env(from[1])) ++from;
    *to++ = *from++;
  }
  if (quote != '\0' && from == end) return "the quote that begins the value is not closed on the same line";
  if (quote != '\0' && from + 1 != end) return "something follows the closing quote";
  *to = 0;
  return nullptr;
}

}  // namespace kron::exec
