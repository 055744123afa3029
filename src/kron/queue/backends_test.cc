#include "kron/queue/conformance.h"

namespace kron::testing {

INSTANTIATE_TEST_SUITE_P(Backends, TaskQueueContract,
                         ::testing::Values(QueueBackend{"Memory", &make_rig<MemoryRig>},
                                           QueueBackend{"File", &make_rig<FileRig>}),
                         backend_name);

}  // namespace kron::testing
