#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kron/kube/transport.h"

namespace kron::testing {

// A way to a server that a test plays itself: it sees what is asked and says what comes back, and when.
class ScriptedTransport : public kube::Transport {
 public:
  struct Asked {
    kube::Request request;
    kube::Lane lane = kube::Lane::call;
    bool is_stream = false;
    OnBytes on_bytes = {};
    OnEnd on_end = {};
  };

  Id send(kube::Request request, kube::Lane lane, OnEnd on_end) override {
    return add({std::move(request), lane, false, {}, std::move(on_end)});
  }
  Id open(kube::Request request, OnBytes on_bytes, OnEnd on_end) override {
    return add({std::move(request), kube::Lane::call, true, std::move(on_bytes), std::move(on_end)});
  }
  void cancel(Id id) override { under_way_.erase(id); }

  [[nodiscard]] std::size_t under_way() const { return under_way_.size(); }
  [[nodiscard]] int asked() const { return static_cast<int>(last_); }
  // The oldest that has no end yet.
  [[nodiscard]] const Asked& first() const { return under_way_.begin()->second; }

  void end(kube::Outcome outcome) {
    const auto asked = under_way_.extract(under_way_.begin());
    asked.mapped().on_end(std::move(outcome));
  }
  void answer(int code, std::string body) { end(kube::Response{.code = code, .body = std::move(body)}); }
  void say(std::string_view bytes) {
    const OnBytes on_bytes = under_way_.begin()->second.on_bytes;  // it may be cancelled meanwhile
    on_bytes(bytes);
  }

 private:
  Id add(Asked asked) {
    under_way_.emplace(++last_, std::move(asked));
    return last_;
  }

  Id last_ = 0;
  std::map<Id, Asked> under_way_;
};

}  // namespace kron::testing
