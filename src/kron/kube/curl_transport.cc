#include "kron/kube/curl_transport.h"

#include <cerrno>
#include <csignal>
#include <curl/curl.h>
#include <deque>
#include <map>
#include <mutex>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "kron/env/descriptor.h"
#include "kron/env/system_error.h"
#include "kron/env/thread_start.h"
#include "kron/env/work_thread.h"
#include "kron/kube/curl_transfer.h"

namespace kron::kube {

// Runs an exec plug-in beside the loop, one at a time. Its end does not wait for the plug-in.
class CurlTransport::PluginRunner {
 public:
  static Result<std::unique_ptr<PluginRunner>> start() {
    Descriptor stopped(::eventfd(0, EFD_CLOEXEC));
    if (!stopped) return fail(system_error("make an event for", "the exec plug-in", errno));
    return with_thread("the exec plug-in", [&] { return std::make_unique<PluginRunner>(std::move(stopped)); });
  }
  explicit PluginRunner(Descriptor stopped) : stopped_(std::move(stopped)) {}
  PluginRunner(const PluginRunner&) = delete;
  PluginRunner& operator=(const PluginRunner&) = delete;
  ~PluginRunner() {
    const std::uint64_t one = 1;
    (void)uninterrupted([&] { return ::write(stopped_.get(), &one, sizeof one); });
  }

  using Done = std::function<void(Result<ExecCredential>)>;  // on the runner's thread
  void run(const ExecPlugin& plugin, const std::string& info, Nanoseconds limit, Done done) {
    thread_.run([this, plugin, info, limit, done = std::move(done)] {
      const Result<std::string> printed = run_exec_plugin(plugin, info, limit, stopped_.get());
      done(printed ? read_exec_credential(*printed, plugin) : fail(printed.error()));
    });
  }

 private:
  Descriptor stopped_;
  WorkThread thread_;  // ends first
};

// Shared with what waits in the mailbox, which may outlive the transport and finds nobody then.
class CurlTransport::Loop : public std::enable_shared_from_this<Loop> {
 public:
  Loop(Credentials shown, const Clock& time, Mailbox& mail, Nanoseconds limit)
      : credentials(std::move(shown)), clock(time), mailbox(mail), plugin_limit(limit) {}

  Status start() {
    if (!credentials.connection().exec) return {};
    Result<std::unique_ptr<PluginRunner>> plugin = PluginRunner::start();
    if (!plugin) return fail(plugin.error());
    plugin_ = *std::move(plugin);
    return {};
  }

  // Sends it, or keeps it until there is something to show.
  void dispatch(CurlOrder order);

  void end(Id id, Outcome outcome) {
    const auto found = pending.extract(id);
    if (found.empty()) return;  // cancelled
    if (const auto* response = std::get_if<Response>(&outcome); response != nullptr && response->code == 401) {
      credentials.expire();
    }
    found.mapped().on_end(std::move(outcome));
  }
  void take(Id id, const std::string& bytes) {
    const auto found = pending.find(id);
    if (found == pending.end()) return;
    const OnBytes on_bytes = found->second.on_bytes;  // a copy: it may cancel itself
    on_bytes(bytes);
  }

  struct Pending {
    OnBytes on_bytes = {};
    OnEnd on_end = {};
  };
  Credentials credentials;
  const Clock& clock;
  Mailbox& mailbox;
  const Nanoseconds plugin_limit;
  Worker* worker = nullptr;
  std::map<Id, Pending> pending;
  std::deque<CurlOrder> held;  // for the plug-in
  Id last = 0;

 private:
  void run_plugin();
  std::unique_ptr<PluginRunner> plugin_;
};

class CurlTransport::Worker {
 public:
  Worker(Connection connection, const Options& options, std::weak_ptr<Loop> loop, Mailbox& mailbox)
      : connection_(std::move(connection)), options_(options), loop_(std::move(loop)), mailbox_(mailbox) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  Status start() {
    multi_ = curl_multi_init();
    if (multi_ == nullptr) return fail(Code::io, "libcurl does not start: there is no memory");
    curl_multi_setopt(multi_, CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(options_.calls + 8));
    // The thread inherits that it takes no signals; they are the loop's.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    Result<std::thread> started =
        with_thread("requests to the API server", [this] { return std::thread([this] { run(); }); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (!started) return fail(started.error());
    thread_ = *std::move(started);
    return {};
  }

  ~Worker() {
    if (thread_.joinable()) {
      {
        const std::scoped_lock lock(mutex_);
        is_stopping_ = true;
      }
      wake();
      thread_.join();
    }
    if (multi_ != nullptr) curl_multi_cleanup(multi_);
  }

  void order(CurlOrder order) {
    {
      const std::scoped_lock lock(mutex_);
      ordered_.push_back(std::move(order));
    }
    wake();
  }
  void cancel(Id id) {
    {
      const std::scoped_lock lock(mutex_);
      cancelled_.push_back(id);
    }
    wake();
  }
  void wake() { curl_multi_wakeup(multi_); }

 private:
  void run() {
    while (take_orders()) {
      for (auto& [id, transfer] : transfers_) transfer->go_on();
      begin_waiting();
      int running = 0;
      curl_multi_perform(multi_, &running);
      if (settle()) continue;  // there is room for those who wait
      curl_multi_poll(multi_, nullptr, 0, 60'000, nullptr);
    }
    for (auto& [id, transfer] : transfers_) curl_multi_remove_handle(multi_, static_cast<CURL*>(transfer->handle()));
    transfers_.clear();
  }

  // False: it is over.
  bool take_orders() {
    std::deque<CurlOrder> ordered;
    std::vector<Id> cancelled;
    {
      const std::scoped_lock lock(mutex_);
      if (is_stopping_) return false;
      ordered.swap(ordered_);
      cancelled.swap(cancelled_);
    }
    for (CurlOrder& order : ordered) waiting_.push_back(std::move(order));
    for (const Id id : cancelled) {
      std::erase_if(waiting_, [&](const CurlOrder& order) { return order.id == id; });
      drop(id);
    }
    return true;
  }

  void begin_waiting() {
    for (auto order = waiting_.begin(); order != waiting_.end();) {
      const bool is_call = !order->is_stream && order->lane != Lane::lease;
      if (is_call && calls_ >= options_.calls) {
        ++order;
        continue;
      }
      begin(std::move(*order));
      order = waiting_.erase(order);
    }
  }

  void begin(CurlOrder order) {
    const bool is_list = order.lane == Lane::list;
    const CurlLimits limits{
        .connect_timeout = options_.connect_timeout,
        .timeout = order.is_stream ? Nanoseconds(0)
                   : is_list       ? options_.list_timeout
                                   : options_.call_timeout,
        .most_bytes = is_list ? options_.most_list_bytes : options_.most_bytes,
        .most_unread = options_.most_unread,
    };
    const Id id = order.id;
    const auto unread = order.unread;
    auto transfer =
        std::make_unique<CurlTransfer>(std::move(order), connection_, limits,
                                       [this, id, unread](std::string bytes) { tell(id, std::move(bytes), unread); });
    auto* easy = static_cast<CURL*>(transfer->handle());
    if (easy == nullptr || curl_multi_add_handle(multi_, easy) != CURLM_OK) {
      return end(id, Broken{Failure::not_sent, "libcurl has no memory for a request"});
    }
    if (transfer->counts_as_call()) ++calls_;
    transfers_.emplace(id, std::move(transfer));
  }

  // True: something has ended.
  bool settle() {
    bool has_ended = false;
    int left = 0;
    while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode result = message->data.result;
      char* self = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &self);
      const auto* transfer = reinterpret_cast<const CurlTransfer*>(self);
      const Id id = transfer->id();
      Outcome outcome = transfer->outcome(result);
      drop(id);
      end(id, std::move(outcome));
      has_ended = true;
    }
    return has_ended;
  }

  void drop(Id id) {
    const auto found = transfers_.find(id);
    if (found == transfers_.end()) return;
    curl_multi_remove_handle(multi_, static_cast<CURL*>(found->second->handle()));
    if (found->second->counts_as_call()) --calls_;
    transfers_.erase(found);
  }

  void end(Id id, Outcome outcome) {
    mailbox_.post([loop = loop_, id, outcome = std::move(outcome)]() mutable {
      if (const auto held = loop.lock()) held->end(id, std::move(outcome));
    });
  }
  void tell(Id id, std::string bytes, std::shared_ptr<std::atomic<std::size_t>> unread) {
    mailbox_.post([this, loop = loop_, id, bytes = std::move(bytes), unread = std::move(unread)] {
      const auto held = loop.lock();
      if (!held) return;  // and the worker is gone with it
      const std::size_t before = unread->fetch_sub(bytes.size());
      if (before > options_.most_unread / 2) wake();  // it may wait for that
      held->take(id, bytes);
    });
  }

  const Connection connection_;
  const Options options_;
  std::weak_ptr<Loop> loop_;
  Mailbox& mailbox_;
  CURLM* multi_ = nullptr;

  std::mutex mutex_;
  std::deque<CurlOrder> ordered_;  // guarded, as are the next
  std::vector<Id> cancelled_;
  bool is_stopping_ = false;

  // The thread's own.
  std::deque<CurlOrder> waiting_;
  std::map<Id, std::unique_ptr<CurlTransfer>> transfers_;
  std::size_t calls_ = 0;

  std::thread thread_;
};

CurlTransport::CurlTransport(std::shared_ptr<Loop> loop, std::unique_ptr<Worker> worker)
    : loop_(std::move(loop)), worker_(std::move(worker)) {}

// The worker first: the loop's part must not go while the worker tells.
CurlTransport::~CurlTransport() {
  worker_.reset();
  loop_.reset();
}

Result<std::unique_ptr<CurlTransport>> CurlTransport::start(Credentials credentials, const Clock& clock,
                                                            Mailbox& mailbox) {
  return start(std::move(credentials), clock, mailbox, Options());
}

Result<std::unique_ptr<CurlTransport>> CurlTransport::start(Credentials credentials, const Clock& clock,
                                                            Mailbox& mailbox, Options options) {
  static const CURLcode kInitialised = curl_global_init(CURL_GLOBAL_ALL);
  if (kInitialised != CURLE_OK) return fail(Code::io, "libcurl does not start");
  Connection connection = credentials.connection();
  auto loop = std::make_shared<Loop>(std::move(credentials), clock, mailbox, options.plugin_timeout);
  if (Status started = loop->start(); !started) return fail(started.error());
  auto worker = std::make_unique<Worker>(std::move(connection), options, loop, mailbox);
  loop->worker = worker.get();
  if (Status started = worker->start(); !started) return fail(started.error());
  return std::unique_ptr<CurlTransport>(new CurlTransport(std::move(loop), std::move(worker)));
}

void CurlTransport::Loop::run_plugin() {
  const ExecPlugin& plugin = *credentials.connection().exec;
  plugin_->run(plugin, exec_info(plugin, credentials.cluster()), plugin_limit,
               [loop = weak_from_this(), &mail = mailbox](Result<ExecCredential> credential) {
                 mail.post([loop, credential = std::move(credential)] {
                   const auto here = loop.lock();
                   if (!here) return;
                   here->credentials.given(credential, here->clock.monotonic(), now(here->clock));
                   std::deque<CurlOrder> waited = std::exchange(here->held, {});
                   for (CurlOrder& order : waited) here->dispatch(std::move(order));
                 });
               });
}

void CurlTransport::Loop::dispatch(CurlOrder order) {
  const Nanoseconds at = clock.monotonic();
  if (credentials.wants_plugin(at)) run_plugin();
  if (credentials.must_wait(at)) {
    held.push_back(std::move(order));
    return;
  }
  Result<Material> material = credentials.current(at);
  if (!material) {
    mailbox.post([loop = weak_from_this(), id = order.id, message = material.error().message] {
      if (const auto here = loop.lock()) here->end(id, Broken{Failure::not_sent, message});
    });
    return;
  }
  order.material = *std::move(material);
  worker->order(std::move(order));
}

Transport::Id CurlTransport::send(Request request, Lane lane, OnEnd on_end) {
  const Id id = ++loop_->last;
  loop_->pending.emplace(id, Loop::Pending{{}, std::move(on_end)});
  loop_->dispatch({.id = id, .request = std::move(request), .lane = lane});
  return id;
}

Transport::Id CurlTransport::open(Request request, OnBytes on_bytes, OnEnd on_end) {
  const Id id = ++loop_->last;
  loop_->pending.emplace(id, Loop::Pending{std::move(on_bytes), std::move(on_end)});
  loop_->dispatch({.id = id,
                   .request = std::move(request),
                   .is_stream = true,
                   .unread = std::make_shared<std::atomic<std::size_t>>(0)});
  return id;
}

void CurlTransport::cancel(Id id) {
  if (loop_->pending.erase(id) == 0) return;
  if (std::erase_if(loop_->held, [&](const CurlOrder& order) { return order.id == id; }) == 0) worker_->cancel(id);
}

const Credentials& CurlTransport::credentials() const { return loop_->credentials; }

}  // namespace kron::kube
