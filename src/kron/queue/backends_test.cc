#include "kron/queue/conformance.h"
#include "kron/queue/redis_queue_rig.h"

namespace kron::testing {

INSTANTIATE_TEST_SUITE_P(
    Backends, TaskQueueContract,
    ::testing::Values(QueueBackend{"Memory", &make_rig<MemoryRig>}, QueueBackend{"File", &make_rig<FileRig>},
                      QueueBackend{"Redis", &make_rig<RedisRig>},
                      QueueBackend{"RedisServer", &make_rig<RedisServerRig>, &RedisServerRig::is_there}),
    backend_name);

}  // namespace kron::testing
