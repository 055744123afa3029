#pragma once

#include <functional>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <tuple>
#include <type_traits>

#include "kron/testing/scale.h"

namespace kron::testing {

// One function for all properties, so that RapidCheck's machinery is not compiled anew for each of them.
void for_all_draws(int cases, const std::function<void()>& property);

template <class Property, class... Inputs>
void try_with_draws(Property& property, void (Property::*)(Inputs...) const) {
  std::tuple<std::decay_t<Inputs>...> inputs{*rc::gen::arbitrary<std::decay_t<Inputs>>()...};
  std::apply(property, inputs);
}

// Tries a property, a lambda, on scaled(cases) random inputs: its arguments, and what it draws itself. A failure fails
// the running test and shows the smallest counterexample with the RC_PARAMS line that replays it.
template <class Property>
void for_all(int cases, Property property) {
  for_all_draws(cases, [&] { try_with_draws(property, &Property::operator()); });
}

}  // namespace kron::testing
