#include "task_ids.h"

#include <array>
#include <sys/random.h>

namespace kron::cli {

std::string new_task_id(std::string_view type) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<unsigned char, 10> random{};
  // So few bytes come whole, and only a machine that has just been switched on makes us wait for them.
  while (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) continue;
  std::string id = std::string(type) + "-";
  for (const unsigned char byte : random) {
    id += kDigits[byte >> 4];
    id += kDigits[byte & 15];
  }
  return id;
}

}  // namespace kron::cli
