#include "kron/cluster/replies.h"

namespace kron::cluster {

Result<RedisValue> value_of(RedisReply reply) {
  switch (reply.how) {
    case RedisReply::How::reply:
      return std::move(reply.value);
    case RedisReply::How::error:
      return fail(Code::refused, "Redis says: " + reply.why);
    case RedisReply::How::lost:
    case RedisReply::How::not_sent:
      break;
  }
  return fail(Code::unreachable, "Redis does not answer" + (reply.why.empty() ? "" : ": " + reply.why));
}

}  // namespace kron::cluster
