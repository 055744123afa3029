#pragma once

#include <cstddef>

namespace kron::exec {

// Takes the text of an env_file apart, in place; docs/job-files.md has the rules. Nothing of the text is ever part of
// what is said about it.
class EnvFile {
 public:
  // The bytes are the caller's, outlive what is read from them, and have room for one more behind them.
  EnvFile(char* bytes, std::size_t size);

  // The next variable, NAME=value with a NUL at its end; null: there is none, or there is a problem.
  char* next();

  const char* problem() const { return problem_; }  // null: none
  std::size_t line() const { return line_; }        // of the problem, or of the last variable; from 1

 private:
  char* fail(const char* problem);
  char* variable_in(char* begin, char* end);
  static const char* take_value(const char* from, const char* end, char* to);

  char* at_;
  char* end_;
  std::size_t line_ = 0;
  const char* problem_ = nullptr;
};

}  // namespace kron::exec
