#pragma once

#include <cstddef>

#include "../cluster/servers.h"

// What is measured of the queue in Redis: the ways that tasks take in Kron's own programs, each beside its bare
// scripts. All begin with an empty Redis and return tasks a second.
namespace kron::bench {

// `kron task submit --redis`, with one task, and `submit-batch`: a RedisQueue of its own.
double submits_directly(Redis& redis, std::size_t batch, std::size_t count);
// So many at a time that come one by one to a krond, without HTTP: the QueueThread that its API asks.
double submits_at_krond(Redis& redis, std::size_t submitters, std::size_t count);
double bare_submits(Redis& redis, std::size_t batch, std::size_t count);

// Lease with start, and commit, of tasks that wait. One `kron worker --redis` that does so many at a time.
double lives_directly(Redis& redis, std::size_t at_a_time, std::size_t count);
// So many workers of one task each at a krond, without HTTP: each commits, and asks for its next task with it.
double lives_at_krond(Redis& redis, std::size_t workers, std::size_t count);
// The commits and the next leases together, in one trip.
double bare_lives(Redis& redis, std::size_t workers, std::size_t count);

// Bytes of Redis's memory for each of `count` tasks with so much data: while they wait, and when they have succeeded.
struct TaskMemory {
  double waits = 0;
  double has_succeeded = 0;
};
TaskMemory memory_per_task(std::size_t data_bytes, std::size_t count);

}  // namespace kron::bench
