#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kron/kube/config.h"

// What the same server and the same transport do without an operator. What is written is what an operator would write
// (bare_steps.h), worked out beforehand.
namespace kron::bench {

// Creates so many suspended Jobs in a namespace, records each in the status of the KronJob `bare-<i>` and opens it, 16
// calls at a time; the seconds until the last is open. Its connections are warm.
struct BareRunsOptions {
  bool with_watches = false;  // of both kinds, as every operator has them; what they say is thrown away
  bool is_gated = true;       // else: no opening
};
double bare_runs(const kube::Connection& connection, const std::string& ns, std::size_t count,
                 const BareRunsOptions& options);

// The same with one in each second, which begins half a second behind it; how late each was open, in seconds and in
// order. What the machine and the server make late is in it.
std::vector<double> bare_timed_runs(const kube::Connection& connection, const std::string& ns, std::size_t count);

// Reads all KronJobs, and all Jobs that an operator reads, by pages of 500, both kinds at once; the seconds, from no
// connection at all. With `parses` each page becomes objects, as with any client that uses them.
double bare_lists(const kube::Connection& connection, bool parses);

}  // namespace kron::bench
