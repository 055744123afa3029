#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/base/result.h"
#include "kron/kube/config.h"
#include "kron/log/line_log.h"
#include "kron/log/log_flags.h"
#include "kron/operator/calls.h"

namespace kron::kronjobs {

struct Options {
  std::string kubeconfig = {};
  std::string ns = {};  // whose KronJobs; empty: all
  bool leader_elect = true;
  std::string lease_name = "kron-operator";
  std::string lease_namespace = {};             // empty: that of the connection
  std::string metrics_listen = "0.0.0.0:8080";  // "none": nothing is served
  double qps = 200;
  double burst = 1000;
  LogFormat log_format = LogFormat::text;
  LogLevel log_level = LogLevel::info;
  std::string test_jobs = {};  // GROUP/VERSION/PLURAL/KIND of what is used as Job; for tests
};

// The flags of kron-operator: the one list of them, which the program visits with one verb for each kind of value.
template <class Visitor>
void visit_flags(Visitor& visit, Options& options) {
  visit.text("--kubeconfig", options.kubeconfig, "PATH",
             "Kubeconfig file (default: $KUBECONFIG, else the service account of the pod, else ~/.kube/config)");
  visit.text("--namespace", options.ns, "NAMESPACE", "Watch the KronJobs of this namespace only (default: all)");
  visit.flag("--leader-elect", options.leader_elect,
             "Work only while holding the Lease; with `--leader-elect=false` work at once (default: true)");
  visit.text("--lease-name", options.lease_name, "NAME", "Name of the Lease (default: kron-operator)");
  visit.text("--lease-namespace", options.lease_namespace, "NAMESPACE",
             "Namespace of the Lease (default: that of the pod, or of the kubeconfig's context)");
  visit.text("--metrics-listen", options.metrics_listen, "ADDRESS",
             "Numeric host and port of /metrics, /healthz and /readyz; `none` disables them (default: 0.0.0.0:8080)");
  visit.number("--qps", options.qps, "Calls of the API server per second (default: 200)");
  visit.number("--burst", options.burst, "Calls that may be made at once after a pause (default: 1000)");
  visit_log_flags(visit, options.log_format, options.log_level);
  // For tests on servers whose Jobs cannot be suspended: a kind that has the shape of Job and can.
  visit.hidden("--test-jobs", options.test_jobs, "GROUP/VERSION/PLURAL/KIND", "Use this kind in place of Job");
}

// Unreadable: a number that is none, a name that the API server would refuse, a kind that is not of that form.
Status check(const Options& options);

// Of --test-jobs, which is empty or was checked.
JobApi job_api_of(const Options& options);

// Reads files and variables by what is given, so that a test need not have any. Unreadable: nothing says where the API
// server is, or what says so cannot be used.
using ReadText = std::function<Result<std::string>(const std::string& path)>;
Result<kube::Connection> find_connection(const Options& options, const kube::GetVariable& variable,
                                         const ReadText& read_text);

// For who finds none: what was looked for, and the cure. `named`: by KUBECONFIG.
Error no_kubeconfig(std::string_view named);

}  // namespace kron::kronjobs
