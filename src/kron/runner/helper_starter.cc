#include "kron/runner/helper_starter.h"

#include "kron/env/system_error.h"
#include "kron/runner/gate.h"
#include "kron/runner/protocol.h"

namespace kron::runner {
namespace {

// Where servers do not work, runs must not wait for them. Where they do, a change of our surroundings must reach them.
constexpr std::chrono::minutes kBetweenServers{1};
constexpr int kMostServers = 2;  // for one run

}  // namespace

HelperStarter::HelperStarter(std::string helper, int runs, std::chrono::milliseconds patience)
    : program_(std::move(helper)), spawner_(program_, runs), patience_(patience) {}

bool HelperStarter::has_server() {
  if (patience_ == patience_.zero()) return false;
  const Time now = std::chrono::steady_clock::now();
  if (now >= next_server_) {
    server_.reset();
    server_ = ForkServer::start(program_, spawner_.runs(), patience_);
    next_server_ = now + kBetweenServers;
  }
  return server_ != nullptr;
}

void HelperStarter::give_up_server() {
  if (server_->was_useful()) next_server_ = {};
  server_.reset();
}

Result<Spawned> HelperStarter::start(const std::string& instructions, int lease) {
  for (int i = 0; i < kMostServers && has_server(); ++i) {
    Result<Gate> gate = make_gate();
    if (!gate) return fail(std::move(gate.error()));
    const ForkServer::Forked forked = server_->fork(instructions, *gate, lease);
    if (forked.pid > 0) return Spawned{forked.pid, std::move(gate->ours)};
    if (forked.error != 0) return fail(system_error("start", program_.path(), forked.error));
    // Should there be one after all, it finds this at its gate, whenever it comes.
    tell(gate->ours, kAbandon);
    give_up_server();
  }
  return spawner_.spawn(instructions, lease);
}

}  // namespace kron::runner
