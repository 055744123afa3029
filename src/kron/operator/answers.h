#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "kron/core/time_zone.h"
#include "kron/kube/request.h"
#include "kron/kube/wire.h"
#include "kron/operator/cache.h"
#include "kron/operator/step.h"

namespace kron::kronjobs {

// What is to be done after a step was answered.
struct Next {
  std::optional<Step> then = {};            // this at once: what is known was old. Then reconcile is asked again …
  bool back_off = false;                    // … but not at once: something failed
  std::optional<Seconds> retry_after = {};  // as the server wishes
  std::vector<Notice> notices = {};
};

// What take_answer does not look at in the answer to a step.
kube::LeftOut left_out_of(const Step& step, const KronJobView* known);

// Puts the answer to a step about `identity` into the cache, so that the next reconcile knows it, and says how to go
// on. The one place where answers of the API server get a meaning. Every call may be repeated: names, versions and uids
// decide, and what was unknown is asked for again.
Next take_answer(Cache& cache, std::string_view identity, const Step& step, const kube::Reply& reply, Instant now,
                 ZoneDatabase& zones);

}  // namespace kron::kronjobs
