#include "kron/kube/curl_transfer.h"

#include <chrono>
#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <utility>

namespace kron::kube {
namespace {

static_assert(CURL_ERROR_SIZE == 256);

const char* method_of(Verb verb) {
  switch (verb) {
    case Verb::get:
      return "GET";
    case Verb::create:
      return "POST";
    case Verb::update:
      return "PUT";
    case Verb::patch:
      return "PATCH";
    case Verb::remove:
      return "DELETE";
  }
  return "GET";
}

// A peer that is gone without a word is noticed while we wait for it to take what we sent.
int prepare_socket(void* /*unused*/, curl_socket_t socket, curlsocktype /*purpose*/) {
  const unsigned int milliseconds = 20'000;
  ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
  return CURL_SOCKOPT_OK;
}

long milliseconds_of(Nanoseconds time) {
  return static_cast<long>(std::chrono::ceil<std::chrono::milliseconds>(time).count());
}

void set_blob(CURL* easy, CURLoption option, const std::string& text) {
  curl_blob blob{.data = const_cast<char*>(text.data()), .len = text.size(), .flags = CURL_BLOB_NOCOPY};
  curl_easy_setopt(easy, option, &blob);
}

struct ServerParts {
  std::string scheme;  // with "://"
  std::string host;
  std::string port;
  std::string path;
};

ServerParts parts_of(const std::string& server) {
  ServerParts parts;
  const std::size_t host = server.find("://") + 3;
  parts.scheme = server.substr(0, host);
  const std::size_t slash = server.find('/', host);
  std::string authority = server.substr(host, slash == std::string::npos ? slash : slash - host);
  if (slash != std::string::npos) parts.path = server.substr(slash);
  const std::size_t colon = authority.rfind(':');
  if (colon != std::string::npos && authority.find(']', colon) == std::string::npos) {
    parts.port = authority.substr(colon + 1);
    authority.resize(colon);
  } else {
    parts.port = parts.scheme == "https://" ? "443" : "80";
  }
  parts.host = std::move(authority);
  return parts;
}

}  // namespace

CurlTransfer::CurlTransfer(CurlOrder order, const Connection& connection, const CurlLimits& limits, Tell tell)
    : order_(std::move(order)),
      most_bytes_(limits.most_bytes),
      most_unread_(limits.most_unread),
      tell_(std::move(tell)),
      easy_(curl_easy_init()) {
  if (easy_ != nullptr) describe(connection, limits);
}

CurlTransfer::~CurlTransfer() {
  curl_easy_cleanup(static_cast<CURL*>(easy_));
  curl_slist_free_all(static_cast<curl_slist*>(headers_));
  curl_slist_free_all(static_cast<curl_slist*>(connect_to_));
}

void CurlTransfer::add_header(const std::string& line) {
  headers_ = curl_slist_append(static_cast<curl_slist*>(headers_), line.c_str());
}

void CurlTransfer::describe(const Connection& connection, const CurlLimits& limits) {
  auto* easy = static_cast<CURL*>(easy_);
  url_ = connection.server;
  if (!connection.tls_server_name.empty()) {
    // The name is asked for, sent as SNI and found in the certificate; the connection goes where it went.
    const ServerParts parts = parts_of(connection.server);
    url_ = parts.scheme + connection.tls_server_name + ":" + parts.port + parts.path;
    const std::string to = connection.tls_server_name + ":" + parts.port + ":" + parts.host + ":" + parts.port;
    connect_to_ = curl_slist_append(nullptr, to.c_str());
    curl_easy_setopt(easy, CURLOPT_CONNECT_TO, connect_to_);
  }
  url_ += order_.request.path;
  if (!order_.request.query.empty()) url_ += "?" + order_.request.query;
  curl_easy_setopt(easy, CURLOPT_URL, url_.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error_.data());
  curl_easy_setopt(easy, CURLOPT_PRIVATE, this);
  if (!connection.proxy.empty()) curl_easy_setopt(easy, CURLOPT_PROXY, connection.proxy.c_str());

  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, milliseconds_of(limits.connect_timeout));
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, milliseconds_of(limits.timeout));
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, 15L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, 5L);
  curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, prepare_socket);

  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &CurlTransfer::take);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
  describe_request();
  describe_tls(connection);
}

void CurlTransfer::describe_request() {
  auto* easy = static_cast<CURL*>(easy_);
  const Request& request = order_.request;
  add_header("Accept: application/json");
  add_header("User-Agent: kron-operator");
  if (!request.body.empty() || request.verb == Verb::create) {
    add_header(request.verb == Verb::patch ? "Content-Type: application/json-patch+json"
                                           : "Content-Type: application/json");
    add_header("Expect:");  // no waiting for a permission to send
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.c_str());
  }
  if (request.verb != Verb::get) curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method_of(request.verb));
  if (!order_.material.token.empty()) add_header("Authorization: Bearer " + order_.material.token);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers_);
}

void CurlTransfer::describe_tls(const Connection& connection) {
  auto* easy = static_cast<CURL*>(easy_);
  curl_easy_setopt(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, connection.is_unverified ? 0L : 1L);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, connection.is_unverified ? 0L : 2L);
  const Material& material = order_.material;
  if (!material.authority.empty()) {
    // The cluster's authority alone: those of the machine do not vouch for it.
    set_blob(easy, CURLOPT_CAINFO_BLOB, material.authority);
    curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);
  }
  if (material.certificate.empty()) return;
  curl_easy_setopt(easy, CURLOPT_SSLCERTTYPE, "PEM");
  curl_easy_setopt(easy, CURLOPT_SSLKEYTYPE, "PEM");
  set_blob(easy, CURLOPT_SSLCERT_BLOB, material.certificate);
  set_blob(easy, CURLOPT_SSLKEY_BLOB, material.key);
}

std::size_t CurlTransfer::take(char* bytes, std::size_t /*one*/, std::size_t size, void* self) {
  return static_cast<CurlTransfer*>(self)->take_part({bytes, size});
}

std::size_t CurlTransfer::take_part(std::string_view part) {
  long code = 0;
  curl_easy_getinfo(static_cast<CURL*>(easy_), CURLINFO_RESPONSE_CODE, &code);
  if (order_.is_stream && code == 200) {
    if (order_.unread->load() > most_unread_) {
      is_paused_ = true;
      return CURL_WRITEFUNC_PAUSE;  // the same part comes again
    }
    order_.unread->fetch_add(part.size());
    tell_(std::string(part));
    return part.size();
  }
  if (body_.size() + part.size() > most_bytes_) {
    is_too_large_ = true;
    return 0;  // ends it
  }
  body_ += part;
  return part.size();
}

void CurlTransfer::go_on() {
  if (!is_paused_ || order_.unread->load() > most_unread_ / 2) return;
  is_paused_ = false;
  curl_easy_pause(static_cast<CURL*>(easy_), CURLPAUSE_CONT);
}

Outcome CurlTransfer::outcome(int result) const {
  auto* easy = static_cast<CURL*>(easy_);
  if (result != CURLE_OK) {
    // Bytes of requests that went out, of those that libcurl repeated too.
    long sent = 0;
    curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &sent);
    std::string message = is_too_large_ ? "the answer is larger than " + std::to_string(most_bytes_) + " bytes"
                          : error_.front() != '\0' ? std::string(error_.data())
                                                   : curl_easy_strerror(static_cast<CURLcode>(result));
    return Broken{sent == 0 ? Failure::not_sent : Failure::unknown, std::move(message)};
  }
  long code = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &code);
  Response response{.code = static_cast<int>(code), .body = body_};
  curl_off_t retry_after = 0;
  curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &retry_after);
  if (retry_after > 0) response.retry_after = Seconds(retry_after);
  curl_header* date = nullptr;
  if (curl_easy_header(easy, "Date", 0, CURLH_HEADER, -1, &date) == CURLHE_OK) {
    const time_t seconds = curl_getdate(date->value, nullptr);
    if (seconds >= 0) response.date = instant_of(seconds);
  }
  return response;
}

}  // namespace kron::kube
