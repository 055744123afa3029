#include "kron/http/reply.h"

#include <utility>

#include "kron/http/backlog.h"
#include "kron/http/exchange.h"

namespace kron::http {

Stream::Stream(std::shared_ptr<Backlog> backlog) : backlog_(std::move(backlog)) {}
Stream::~Stream() { backlog_->end(); }
bool Stream::write(std::string bytes) { return backlog_->write(std::move(bytes)); }
void Stream::end() { backlog_->end(); }
void Stream::cut() { backlog_->cut(); }
void Stream::counts_as_whole() { backlog_->counts_as_whole(); }
void Stream::on_drained(std::function<void()> call) { backlog_->on_drained(std::move(call)); }

Reply::Reply(std::unique_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}
Reply::Reply(Reply&&) noexcept = default;

Reply& Reply::operator=(Reply&& other) noexcept {
  // What stood here before is answered as by the destructor.
  Reply old(std::move(*this));
  exchange_ = std::move(other.exchange_);
  return *this;
}

Reply::~Reply() {
  if (exchange_) send(problem(Error{Code::internal, "the request was not answered"}));
}

void Reply::send(Response response) {
  if (const auto exchange = std::move(exchange_)) exchange->send(std::move(response));
}

std::shared_ptr<Stream> Reply::begin(Response head) {
  if (const auto exchange = std::move(exchange_)) return exchange->begin(std::move(head));
  auto nowhere = std::make_shared<Backlog>(0, [] {});
  nowhere->close();
  return std::make_shared<Stream>(std::move(nowhere));
}

void Reply::on_gone(std::function<void()> call) {
  if (exchange_) exchange_->on_gone(std::move(call));
}

}  // namespace kron::http
