#include "kron/kube/fake/http_peer.h"

#include <algorithm>
#include <arpa/inet.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "kron/base/text.h"

namespace kron::testing {
namespace {

std::unique_ptr<BIO, decltype(&BIO_free)> reader_of(const std::string& pem) {
  return {BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free};
}

void require(bool is_so, const char* what) {
  if (is_so) return;
  std::fprintf(stderr, "the peer of a test cannot %s\n", what);
  std::abort();
}

SSL_CTX* context_of(const HttpPeer::Tls& tls) {
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  X509* certificate = PEM_read_bio_X509(reader_of(tls.server.certificate).get(), nullptr, nullptr, nullptr);
  EVP_PKEY* key = PEM_read_bio_PrivateKey(reader_of(tls.server.key).get(), nullptr, nullptr, nullptr);
  require(SSL_CTX_use_certificate(context, certificate) == 1 && SSL_CTX_use_PrivateKey(context, key) == 1,
          "use its certificate");
  X509_free(certificate);
  EVP_PKEY_free(key);
  if (!tls.client_authority.empty()) {
    X509* authority = PEM_read_bio_X509(reader_of(tls.client_authority).get(), nullptr, nullptr, nullptr);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority);
    X509_free(authority);
    // Without it, no session of a client with a certificate can be resumed.
    SSL_CTX_set_session_id_context(context, reinterpret_cast<const unsigned char*>("peer"), 4);
    const int must = tls.is_client_optional ? 0 : SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | must, nullptr);
  }
  return context;
}

std::size_t length_in(const std::string& head) {
  const std::string lowered = lower(head);
  const std::size_t at = lowered.find("content-length: ");
  return at == std::string::npos ? 0 : static_cast<std::size_t>(std::atoll(head.c_str() + at + 16));
}

}  // namespace

HttpPeer::HttpPeer(Handler handler, std::optional<Tls> tls, std::uint16_t port)
    : handler_(std::move(handler)), tls_(std::move(tls)) {
  if (tls_) context_ = context_of(*tls_);
  listener_ = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  stopped_ = Descriptor(::eventfd(0, EFD_CLOEXEC));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  const int on = 1;
  ::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  socklen_t size = sizeof address;
  auto* general = reinterpret_cast<sockaddr*>(&address);
  require(::bind(listener_.get(), general, size) == 0 && ::listen(listener_.get(), 64) == 0 &&
              ::getsockname(listener_.get(), general, &size) == 0,
          "listen");
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

void HttpPeer::stop_listening() {
  if (!acceptor_.joinable()) return;
  const std::uint64_t one = 1;
  require(::write(stopped_.get(), &one, sizeof one) == sizeof one, "stop");
  acceptor_.join();
  listener_ = Descriptor();
}

HttpPeer::~HttpPeer() {
  stop_listening();
  {
    const std::scoped_lock lock(mutex_);
    for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
  }
  for (std::thread& thread : threads_) thread.join();
  SSL_CTX_free(static_cast<SSL_CTX*>(context_));
}

std::string HttpPeer::url() const {
  return (tls_ ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port_);
}

void HttpPeer::accept_all() {
  while (true) {
    pollfd waited[] = {{.fd = listener_.get(), .events = POLLIN, .revents = 0},
                       {.fd = stopped_.get(), .events = POLLIN, .revents = 0}};
    uninterrupted([&] { return ::poll(waited, 2, -1); });
    if (waited[1].revents != 0) return;
    const int socket = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) continue;
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // lines of a watch are small
    ++accepted_;
    const std::scoped_lock lock(mutex_);
    sockets_.push_back(socket);
    threads_.emplace_back([this, socket] { serve(socket); });
  }
}

void HttpPeer::serve(int socket) {
  // OpenSSL writes without MSG_NOSIGNAL.
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, nullptr);

  SSL* ssl = nullptr;
  bool is_open = true;
  if (context_ != nullptr) {
    ssl = SSL_new(static_cast<SSL_CTX*>(context_));
    SSL_set_fd(ssl, socket);
    is_open = SSL_accept(ssl) == 1;
  }
  Talk talk(socket, ssl);
  std::string unread;
  while (is_open && !talk.is_closed()) {
    const std::size_t end = unread.find("\r\n\r\n");
    const std::size_t length = end == std::string::npos ? 0 : length_in(unread.substr(0, end + 4));
    if (end == std::string::npos || unread.size() < end + 4 + length) {
      const std::string more = talk.read_some();
      is_open = !more.empty();
      unread += more;
      continue;
    }
    const std::string head = unread.substr(0, end + 4);
    const std::string body = unread.substr(end + 4, length);
    unread.erase(0, end + 4 + length);
    handler_(talk, head, body);
  }
  if (ssl != nullptr && is_open) SSL_shutdown(ssl);
  SSL_free(ssl);
  const std::scoped_lock lock(mutex_);
  std::erase(sockets_, socket);
  ::close(socket);
}

std::string HttpPeer::Talk::read_some() {
  std::string bytes(16384, '\0');
  const auto size =
      ssl_ != nullptr
          ? static_cast<ssize_t>(SSL_read(static_cast<SSL*>(ssl_), bytes.data(), static_cast<int>(bytes.size())))
          : uninterrupted([&] { return ::recv(socket_, bytes.data(), bytes.size(), 0); });
  bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  if (bytes.empty()) is_closed_ = true;
  return bytes;
}

bool HttpPeer::Talk::say(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent =
        ssl_ != nullptr
            ? static_cast<ssize_t>(SSL_write(static_cast<SSL*>(ssl_), bytes.data(), static_cast<int>(bytes.size())))
            : uninterrupted([&] { return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL); });
    if (sent <= 0) {
      is_closed_ = true;
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool HttpPeer::Talk::answer(int code, std::string_view body, std::string_view headers) {
  return say("HTTP/1.1 " + std::to_string(code) + " X\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
             std::string(headers) + "\r\n" + std::string(body));
}

void HttpPeer::Talk::reset() {
  const linger now{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  is_closed_ = true;
}

std::string HttpPeer::Talk::client_name() const {
  X509* certificate = ssl_ != nullptr ? SSL_get0_peer_certificate(static_cast<SSL*>(ssl_)) : nullptr;
  if (certificate == nullptr) return {};
  char name[256] = "";
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name, sizeof name);
  return name;
}

void HttpPeer::Talk::wait_until_gone() {
  while (!read_some().empty()) {
  }
}

}  // namespace kron::testing
