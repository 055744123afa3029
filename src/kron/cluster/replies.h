#pragma once

#include "kron/base/result.h"
#include "kron/env/redis_connection.h"

namespace kron::cluster {

// What Redis answered; refused with its own text when it refused, unreachable when it did not answer.
Result<RedisValue> value_of(RedisReply reply);

}  // namespace kron::cluster
