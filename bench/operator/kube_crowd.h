#pragma once

#include <cstddef>
#include <string>

// Many that are due in one second, on a real API server that is there already and has the KronJobs' definition.
namespace kron::bench {

// One JSON object. Each round is a bare client and then a kron-operator of its own, on new objects in namespaces of
// their own, which stay; both are timed by what a watch of the benchmark sees: the record of the last, or on servers
// whose Jobs can be suspended (1.22 and later) its opening.
std::string kube_crowd_json(const std::string& kubeconfig, std::size_t count, int rounds);

}  // namespace kron::bench
