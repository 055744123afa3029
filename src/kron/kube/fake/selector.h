#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kron/base/result.h"
#include "kron/json/document.h"

namespace kron::kube {

// The value of a key in a query, decoded; empty: there is none.
std::string query_value(std::string_view query, std::string_view key);

// Which objects a list or a watch is about: labels by `key`, `!key`, `key=value`, `key==value` and `key!=value`, and of
// the fields metadata.name and metadata.namespace.
class Selector {
 public:
  // Out of labelSelector and fieldSelector. Refused with code invalid: what is not modelled.
  static Result<Selector> of_query(std::string_view query);

  [[nodiscard]] bool selects(const Node& object) const;

 private:
  enum class Wish : std::uint8_t { there, absent, equal, unequal };
  struct Requirement {
    Wish wish = Wish::there;
    std::string key;
    std::string value = {};
  };

  static Requirement requirement_of(std::string_view text);

  std::vector<Requirement> labels_;
  std::vector<Requirement> fields_;  // keys of metadata
};

}  // namespace kron::kube
