#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace kron {

// What kind of "no" an operation met. Each code has one row in the table of result.cc, which gives its exit status and
// its HTTP status; nothing else in the tree chooses those numbers.
enum class Code {
  invalid,      // the input breaks a rule; the message says which and what would be right
  not_found,    // no such job, run, task …
  unreadable,   // wrong usage, or input that could not be read at all
  unreachable,  // the daemon, or a server it needs, does not answer
  refused,      // not allowed
  conflict,     // the present state forbids it
  io,           // the disk said no; nothing was half done
  internal,     // a bug
};

struct Error {
  Code code = Code::internal;
  std::string message;     // a sentence: the problem, and the cure where there is one
  std::string field = {};  // which part of the input, in the input's own words ("minute", "window"); may be empty
  std::size_t column = 0;  // 1-based byte position in the text of that field; 0 when there is none

  bool operator==(const Error&) const = default;
};

// A value or an Error. Nothing in the tree throws across a room's border.
template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

using Status = Result<void>;

// `return fail(Code::invalid, "…", "minute", 3);` in any function that returns a Result.
inline tl::unexpected<Error> fail(Code code, std::string message, std::string field = {}, std::size_t column = 0) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(field), column});
}
inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

std::string_view name_of(Code code);
int exit_status(Code code);
int http_status(Code code);

}  // namespace kron
