#pragma once

#include <cstddef>
#include <string>

// Tasks from their lease to their end, by workers that have nothing else to do.
namespace kron::bench {

void submit_tasks(const std::string& socket, std::size_t count);

// Tasks a second through the API: each worker leases one with its start, and commits it. In a process of its own.
double leases_to_commits(const std::string& socket, std::size_t workers, std::size_t count);

// The same by the queue's own thread, without any HTTP.
double leases_to_commits_without_http(const std::string& directory, std::size_t workers, std::size_t count);

}  // namespace kron::bench
