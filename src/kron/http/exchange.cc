#include "kron/http/exchange.h"

#include "kron/http/backlog.h"
#include "kron/http/connection.h"

namespace kron::http {

void Exchange::send(Response response) const {
  // A task is copyable; a body should not be copied.
  thread_->run([connection = connection_, held = std::make_shared<Response>(std::move(response))] {
    if (const auto alive = connection.lock()) alive->answer(std::move(*held));
  });
}

std::shared_ptr<Stream> Exchange::begin(Response head) const {
  if (!place_->grow(1)) {
    Response busy = problem(503, "too many streams, of all or of this user; try again");
    busy.headers.emplace_back("Retry-After", "1");
    send(std::move(busy));
    return nullptr;
  }
  const auto wake = [thread = thread_, connection = connection_] {
    thread->run([connection] {
      if (const auto alive = connection.lock()) alive->pump();
    });
  };
  auto backlog = std::make_shared<Backlog>(stream_backlog_, wake);
  const bool is_running = thread_->run(
      [connection = connection_, place = place_, held = std::make_shared<Response>(std::move(head)), backlog] {
        if (const auto alive = connection.lock()) {
          alive->stream(std::move(*held), backlog, place);
        } else {
          backlog->close();
        }
      });
  if (!is_running) backlog->close();
  return std::make_shared<Stream>(std::move(backlog));
}

void Exchange::on_gone(std::function<void()> call) const {
  thread_->run([connection = connection_, call = std::move(call)] {
    if (const auto alive = connection.lock()) {
      alive->on_gone(call);
    } else {
      call();
    }
  });
}

}  // namespace kron::http
