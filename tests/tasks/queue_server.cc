#include "queue_server.h"

#include <array>
#include <cstring>
#include <map>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "kron/env/fake/capturing_log.h"
#include "kron/env/real_file_system.h"
#include "kron/json/document.h"
#include "kron/json/writer.h"
#include "kron/queue/file_queue.h"

namespace kron::testing {
namespace {

constexpr int kTick = 50;  // milliseconds between looks at what has run out

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  return address;
}

std::string text_in(const Node& node, const char* key) {
  const Node* found = node.find(key);
  const std::string* text = found != nullptr ? found->as<std::string>() : nullptr;
  return text != nullptr ? *text : "";
}

std::int64_t number_in(const Node& node, const char* key) {
  const Node* found = node.find(key);
  const std::int64_t* number = found != nullptr ? found->as<std::int64_t>() : nullptr;
  return number != nullptr ? *number : 0;
}

LeaseKey key_in(const Node& node) {
  return {text_in(node, "exec_id"), static_cast<std::uint64_t>(number_in(node, "token"))};
}

void write_key(JsonWriter& out, const LeaseKey& key) {
  out.member("exec_id", key.exec_id).key("token").integer(static_cast<std::int64_t>(key.token));
}

JsonWriter request_for(const char* verb) {
  JsonWriter out;
  out.begin_map().member("verb", verb);
  return out;
}

Result<LeaseOutcome> outcome_in(const Result<Node>& answer) {
  if (!answer) return fail(answer.error());
  const std::string word = text_in(*answer, "outcome");
  for (const auto outcome : {LeaseOutcome::accepted, LeaseOutcome::lease_lost, LeaseOutcome::duplicate}) {
    if (word == name_of(outcome)) return outcome;
  }
  return fail(Code::conflict, text_in(*answer, "error"));
}

class Server {
 public:
  explicit Server(const std::string& data_directory)
      : queue_(FileQueue::open(files_, clock_, log_, data_directory).value()) {}

  void tick() { static_cast<void>(queue_->expire().value()); }

  std::string answer(const Node& request) {
    const std::string verb = text_in(request, "verb");
    if (verb == "submit") return submit(request);
    if (verb == "lease") return lease(request);
    if (verb == "renew") return outcome(queue_->renew(key_in(request)));
    if (verb == "commit") return commit(request);
    if (verb == "fail") {
      const auto failed = queue_->fail_attempt({key_in(request), text_in(request, "reason")});
      return failed ? outcome(failed->outcome) : outcome(fail(failed.error()));
    }
    const TaskCounts counts = queue_->counts().value();
    return counts.pending + counts.running > 0 ? R"({"left":1})" : R"({"left":0})";
  }

 private:
  static std::string outcome(const Result<LeaseOutcome>& result) {
    JsonWriter out;
    out.begin_map();
    out.member(result ? "outcome" : "error", result ? name_of(*result) : result.error().message);
    return out.end_map().take();
  }

  std::string submit(const Node& request) {
    NewTask task{.id = text_in(request, "task"), .type = text_in(request, "type")};
    task.retry.backoff = Seconds(0);
    queue_->submit(task).value();
    return outcome(LeaseOutcome::accepted);
  }

  std::string lease(const Node& request) {
    const auto leases = queue_->lease({.worker = text_in(request, "worker"),
                                       .count = static_cast<std::size_t>(number_in(request, "n")),
                                       .term = Seconds(number_in(request, "term")),
                                       .starts = true});
    JsonWriter out;
    out.begin_map().key("leases").begin_list();
    for (const Lease& lease : leases.value()) {
      out.begin_map().member("task", lease.task_id).member("type", lease.type).member("data", lease.data);
      write_key(out, lease.key);
      out.end_map();
    }
    return out.end_list().end_map().take();
  }

  std::string commit(const Node& request) {
    CommitRequest commit{.key = key_in(request), .result = text_in(request, "result")};
    for (const Node& file : *request.find("files")->as<Node::List>()) {
      commit.files.push_back({text_in(file, "path"), text_in(file, "bytes")});
    }
    const auto answer = queue_->commit(commit);
    return answer ? outcome(answer->outcome) : outcome(fail(answer.error()));
  }

  RealFileSystem files_;
  RealClock clock_;
  CapturingLog log_;
  std::unique_ptr<FileQueue> queue_;
};

// False when the other side is gone.
bool serve(Server& server, int socket, std::string& received) {
  std::array<char, 65536> chunk{};
  const ssize_t size = ::read(socket, chunk.data(), chunk.size());
  if (size <= 0) return false;
  received.append(chunk.data(), static_cast<std::size_t>(size));
  for (std::size_t end = received.find('\n'); end != std::string::npos; end = received.find('\n')) {
    const std::string reply = server.answer(parse_json(received.substr(0, end)).value()) + "\n";
    received.erase(0, end + 1);
    if (::send(socket, reply.data(), reply.size(), MSG_NOSIGNAL) < 0) return false;
  }
  return true;
}

}  // namespace

void serve_queue(const std::string& data_directory, const std::string& socket_path) {
  Server server(data_directory);
  const Descriptor listening(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_un address = address_of(socket_path);
  if (::bind(listening.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) ::_exit(1);
  ::listen(listening.get(), 8);
  std::map<int, std::string> clients;
  while (true) {
    std::vector<pollfd> polled{{listening.get(), POLLIN, 0}};
    for (const auto& [socket, received] : clients) polled.push_back({socket, POLLIN, 0});
    ::poll(polled.data(), polled.size(), kTick);
    server.tick();
    for (const pollfd& one : polled) {
      if (one.revents == 0) continue;
      if (one.fd == listening.get()) {
        clients[::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC)];
      } else if (!serve(server, one.fd, clients[one.fd])) {
        ::close(one.fd);
        clients.erase(one.fd);
      }
    }
  }
}

SocketClient::SocketClient(const std::string& socket_path) : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const sockaddr_un address = address_of(socket_path);
  while (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) ::usleep(10'000);
}

Result<Node> SocketClient::ask(std::string request) {
  request += "\n";
  if (::send(socket_.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) {
    return fail(Code::unreachable, "the server is gone");
  }
  std::array<char, 65536> chunk{};
  while (received_.find('\n') == std::string::npos) {
    const ssize_t size = uninterrupted([&] { return ::read(socket_.get(), chunk.data(), chunk.size()); });
    if (size <= 0) return fail(Code::unreachable, "the server is gone");
    received_.append(chunk.data(), static_cast<std::size_t>(size));
  }
  const std::size_t end = received_.find('\n');
  auto answer = parse_json(received_.substr(0, end));
  received_.erase(0, end + 1);
  return answer;
}

std::vector<Result<SubmitAnswer>> SocketClient::submit(std::span<const NewTask> tasks) {
  std::vector<Result<SubmitAnswer>> answers;
  for (const NewTask& task : tasks) {
    const auto answer = ask(request_for("submit").member("task", task.id).member("type", task.type).end_map().take());
    answers.push_back(answer ? Result<SubmitAnswer>(SubmitAnswer{SubmitOutcome::accepted, task.id})
                             : fail(answer.error()));
  }
  return answers;
}

Result<std::vector<Lease>> SocketClient::lease(const LeaseRequest& request) {
  JsonWriter out = request_for("lease");
  out.member("worker", request.worker).key("n").integer(static_cast<std::int64_t>(request.count));
  const auto answer = ask(out.key("term").integer(request.term.count()).end_map().take());
  if (!answer) return fail(answer.error());
  std::vector<Lease> leases;
  for (const Node& node : *answer->find("leases")->as<Node::List>()) {
    Lease lease;
    lease.key = key_in(node);
    lease.task_id = text_in(node, "task");
    lease.type = text_in(node, "type");
    lease.data = text_in(node, "data");
    leases.push_back(std::move(lease));
  }
  return leases;
}

Result<LeaseOutcome> SocketClient::renew(const LeaseKey& key) {
  JsonWriter out = request_for("renew");
  write_key(out, key);
  return outcome_in(ask(out.end_map().take()));
}

std::vector<Result<CommitAnswer>> SocketClient::commit(std::span<const CommitRequest> requests) {
  std::vector<Result<CommitAnswer>> answers;
  for (const CommitRequest& request : requests) {
    JsonWriter out = request_for("commit");
    write_key(out, request.key);
    out.member("result", request.result).key("files").begin_list();
    for (const StagedFile& file : request.files) {
      out.begin_map().member("path", file.path).member("bytes", file.bytes).end_map();
    }
    const auto outcome = outcome_in(ask(out.end_list().end_map().take()));
    answers.push_back(outcome ? Result<CommitAnswer>(CommitAnswer{*outcome, {}}) : fail(outcome.error()));
  }
  return answers;
}

std::vector<Result<FailAnswer>> SocketClient::fail_attempts(std::span<const FailRequest> requests) {
  std::vector<Result<FailAnswer>> answers;
  for (const FailRequest& request : requests) {
    JsonWriter out = request_for("fail");
    write_key(out, request.key);
    const auto outcome = outcome_in(ask(out.member("reason", request.reason).end_map().take()));
    answers.push_back(outcome ? Result<FailAnswer>(FailAnswer{*outcome}) : fail(outcome.error()));
  }
  return answers;
}

cli::NextChance SocketClient::next_chance() {
  return {.expires = clock_.monotonic() + std::chrono::milliseconds(kTick)};
}

Result<bool> SocketClient::has_left(std::span<const std::string>) {
  const auto answer = ask(request_for("left").end_map().take());
  if (!answer) return fail(answer.error());
  return number_in(*answer, "left") != 0;
}

}  // namespace kron::testing
