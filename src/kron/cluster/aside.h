#pragma once

#include <functional>

namespace kron::cluster {

// How a service that lives on the loop has things done elsewhere: what waits for Redis must not be waited for there.
struct Aside {
  using Work = std::function<void()>;

  std::function<bool(Work)> run;      // on another thread, one after the other; false: it was not taken
  std::function<void(Work)> to_loop;  // from any thread: by the loop
};

}  // namespace kron::cluster
