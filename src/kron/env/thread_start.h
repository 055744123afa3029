#pragma once

#include <string_view>
#include <system_error>
#include <type_traits>

#include "kron/base/result.h"
#include "kron/env/system_error.h"

namespace kron {

// What `make` returns, which starts a thread to do so; an error where there is no thread to be had. `purpose` says in
// the message what the thread is for.
template <class Make>
Result<std::invoke_result_t<Make>> with_thread(std::string_view purpose, Make make) {
  try {
    return make();
  } catch (const std::system_error& error) {
    return fail(system_error("start a thread for", purpose, error.code().value()));
  }
}

}  // namespace kron
