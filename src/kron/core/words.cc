#include "kron/core/words.h"

namespace kron {

tl::unexpected<Error> unknown_word(std::string_view found, std::span<const std::string_view> known,
                                   std::string_view what, std::string field) {
  std::string message = "unknown " + std::string(what) + " " + quoted(found);
  if (const std::string_view near = nearest_word(found, known); !near.empty()) {
    message += "; did you mean " + std::string(near) + "?";
  } else {
    message += "; known are";
    for (std::size_t i = 0; i < known.size(); ++i) {
      message += (i == 0 ? " " : ", ") + std::string(known[i]);
    }
  }
  return fail(Code::invalid, std::move(message), std::move(field), 1);
}

}  // namespace kron
