#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

#include "kron/kube/fake/http_api_server.h"

// A cluster for a benchmark: the model of an API server over TLS, within this process, and a real kron-operator.
namespace kron::bench {

inline constexpr char kShop[] = "shop";

class ModelCluster {
 public:
  ModelCluster();
  ~ModelCluster();  // ends the operator
  ModelCluster(const ModelCluster&) = delete;
  ModelCluster& operator=(const ModelCluster&) = delete;

  testing::HttpApiServer& server() { return *server_; }

  // A KronJob of this schedule, with a deadline of a minute.
  void add(const std::string& ns, const std::string& name, const std::string& schedule);
  // Jobs that one of kShop has had: three that are complete and one that has failed.
  void add_history(const std::string& name, std::int64_t second);

  // Starts kron-operator with further flags, and waits until it watches both kinds; the seconds from its start to that.
  double start_operator(const std::vector<std::string>& flags);
  void end_operator();
  [[nodiscard]] pid_t pid() const { return pid_; }

  // A bare client (bare_client.h) as a process of its own, as the operator is one: this program with these arguments
  // and a kubeconfig.
  struct Bare {
    std::vector<double> seconds;  // what it prints
    double cpu = 0;
  };
  [[nodiscard]] Bare bare(std::vector<std::string> arguments) const;

  // Calls of the operator since it was started.
  struct Calls {
    int lease = 0;
    int lists = 0;
    int watches = 0;
    int others = 0;

    Calls operator-(const Calls& before) const;
  };
  [[nodiscard]] Calls calls() const;

  // Waits until all KronJobs whose names begin like this have a status and the operator makes no calls.
  void wait_until_settled(const std::string& begin);
  // When the Jobs of identities that begin like this were started, as nanoseconds of the wall clock, in order.
  [[nodiscard]] std::vector<std::int64_t> starts(const std::string& identity) const;
  // Waits for that many, or for that many seconds.
  [[nodiscard]] std::vector<std::int64_t> wait_for_starts(const std::string& identity, std::size_t count,
                                                          double seconds) const;

 private:
  std::string directory_;
  std::unique_ptr<testing::HttpApiServer> server_;
  pid_t pid_ = -1;
};

}  // namespace kron::bench
