#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/base/instant.h"
#include "kron/http/message.h"
#include "kron/http/reply.h"
#include "kron/json/document.h"

namespace kron::api {

// One request on its way through the daemon's threads. Answered once, from any of them.
class Call : public std::enable_shared_from_this<Call> {
  http::Request asked_;

 public:
  using Answered = std::function<void(int status)>;
  using Aside = std::function<bool(std::function<void()>)>;  // Parts::aside

  // A shorter answer is sent as it is.
  static constexpr std::size_t kLeastCompressed = 4 << 10;

  // `names`: what stands where the route's pattern has {…}. `compress_on`: a thread on which an answer may be
  // compressed; without it none is.
  Call(http::Request asked, std::vector<std::string> path_names, http::Reply way_back, Answered note,
       Aside compress_on = {});

  const http::Request& request = asked_;
  const std::vector<std::string> names;

  // What the body said has been taken out of it, and only its place in the server's limit is still needed.
  void drop_body() { asked_.body = std::string(); }

  void send(http::Response response);
  // Compressed, when the client accepts it and it pays.
  void send_json(std::string body, int status = 200) { send_text(std::move(body), "application/json", status); }
  void send_text(std::string body, std::string content_type, int status = 200);

  // So long an answer may stay the same when nothing happens.
  static constexpr Seconds kUsualSlot{10};

  // The answer is to carry this tag (RFC 9110, ETag), which is another one whenever the answer would be. True: the
  // client has it already, and has been told so. To be called once, by one thread, before anything is sent.
  bool is_known_by(std::string tag);
  void refuse(const Error& error) { send(http::problem(error)); }
  // Nothing when there are too many streams; then the call is answered.
  std::shared_ptr<http::Stream> begin(http::Response head);
  void on_gone(std::function<void()> call) { reply_.on_gone(std::move(call)); }

 private:
  void add_tag(http::Response& response) const;

  http::Reply reply_;
  Answered answered_;
  Aside compress_on_;
  std::string tag_;
};
using CallPtr = std::shared_ptr<Call>;

// Parameters of a query. Absent: nothing or the default. Code invalid names the parameter.
Result<std::optional<Instant>> time_parameter(const http::Request& request, std::string_view name);
Result<std::optional<Seconds>> duration_parameter(const http::Request& request, std::string_view name);
Result<std::int64_t> number_parameter(const http::Request& request, std::string_view name, std::int64_t otherwise,
                                      std::int64_t least, std::int64_t most);
Result<std::size_t> limit_parameter(const http::Request& request);  // 1 … 1000, 100 when absent
// From 0 to `most`; none when absent.
Result<Nanoseconds> wait_parameter(const http::Request& request, std::string_view name, Nanoseconds most);
std::string text_parameter(const http::Request& request, std::string_view name);

// One of a few words; nothing when absent.
Result<std::optional<std::string>> word_parameter(const http::Request& request, std::string_view name,
                                                  std::initializer_list<std::string_view> words);

// A JSON text has no byte order mark (RFC 8259): to pass over one would move every position behind it.
Status check_no_byte_order_mark(std::string_view body);

// The members of a body that may be left out: a JSON object, or an empty one for an empty body.
Result<Node> object_in(const std::string& body);

}  // namespace kron::api
