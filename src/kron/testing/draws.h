#pragma once

#include <rapidcheck.h>
#include <string>

// Small draws for properties that put a document together.
namespace kron::testing {

template <class... Texts>
std::string one_of(Texts... texts) {
  return *rc::gen::element(std::string(texts)...);
}

inline bool maybe() { return *rc::gen::arbitrary<bool>(); }

}  // namespace kron::testing
