#include "kron/http/tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "kron/http/fake/tls_rig.h"

namespace kron::http {
namespace {

using testing::carry;
using ::testing::HasSubstr;
using testing::Pem;
using testing::read_all;
using testing::TlsRig;

struct Ends {
  Ends(const TlsRig& rig, const std::string& host = "localhost")
      : server(TlsSession::for_server(rig.server()).value()),
        client(TlsSession::for_client(rig.client(), host).value()) {}

  Status shake_hands(std::size_t at_once = std::size_t{1} << 30) {
    if (Status begun = client.received({}); !begun) return begun;
    return carry(client, server, at_once);
  }

  TlsSession server;
  TlsSession client;
};

std::string many_bytes(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 2654435761U >> 13U);
  return bytes;
}

TEST(TlsSession, CarriesBytesBothWays) {
  const TlsRig rig;
  for (const char* host : {"localhost", "127.0.0.1", "::1"}) {
    Ends ends(rig, host);
    EXPECT_FALSE(ends.server.is_established());
    EXPECT_FALSE(ends.client.peer());
    const Status shaken = ends.shake_hands();
    ASSERT_TRUE(shaken) << shaken.error().message;
    ASSERT_TRUE(ends.server.is_established() && ends.client.is_established());
    ASSERT_TRUE(ends.client.write("a question"));
    ASSERT_TRUE(ends.server.write("an answer"));
    ASSERT_TRUE(carry(ends.client, ends.server));
    EXPECT_EQ(ends.server.has_something(), true);
    EXPECT_EQ(read_all(ends.server), "a question");
    EXPECT_EQ(ends.server.has_something(), false);
    EXPECT_EQ(read_all(ends.client), "an answer");
    const auto peer = ends.client.peer();
    ASSERT_TRUE(peer);
    EXPECT_EQ(peer->protocol, "TLSv1.3");
    EXPECT_THAT(peer->issuer, HasSubstr("Kron's tests"));
    EXPECT_EQ(peer->expires, rig.server()->expires());
  }
}

TEST(TlsSession, DoesNotCareHowTheBytesAreCut) {
  const TlsRig rig;
  Ends ends(rig);
  ASSERT_TRUE(ends.shake_hands(1));
  ASSERT_TRUE(ends.client.write("byte by byte"));
  ASSERT_TRUE(carry(ends.client, ends.server, 1));
  EXPECT_EQ(read_all(ends.server, 1), "byte by byte");
}

TEST(TlsSession, CarriesMoreThanARecordHolds) {
  const TlsRig rig;
  Ends ends(rig);
  ASSERT_TRUE(ends.shake_hands());
  const std::string sent = many_bytes(5'000'001);
  ASSERT_TRUE(ends.server.write(sent));
  ASSERT_TRUE(carry(ends.client, ends.server, 1000));
  EXPECT_EQ(read_all(ends.client, 70'000), sent);
}

TEST(TlsSession, TellsTheEndFromSilence) {
  const TlsRig rig;
  Ends ends(rig);
  ASSERT_TRUE(ends.shake_hands());
  ASSERT_TRUE(ends.client.write("last words"));
  ends.client.close();
  ends.client.close();
  EXPECT_EQ(ends.client.write("more").error().code, Code::conflict);
  ASSERT_TRUE(carry(ends.client, ends.server));
  EXPECT_EQ(ends.server.has_something(), true);
  EXPECT_FALSE(ends.server.peer_closed()) << "what came before it is not read yet";
  EXPECT_EQ(read_all(ends.server), "last words");
  EXPECT_TRUE(ends.server.peer_closed());
  // The other direction is open still.
  ASSERT_TRUE(ends.server.write("farewell"));
  ASSERT_TRUE(carry(ends.client, ends.server));
  EXPECT_EQ(read_all(ends.client), "farewell");
  EXPECT_FALSE(ends.client.peer_closed());
}

TEST(TlsSession, NothingIsWrittenBeforeTheHandshakeIsOver) {
  const TlsRig rig;
  Ends ends(rig);
  EXPECT_EQ(ends.client.write("early").error().code, Code::conflict);
  EXPECT_EQ(ends.server.write("early").error().code, Code::conflict);
  ends.server.close();
  EXPECT_EQ(ends.server.take_outgoing(), "");
  EXPECT_EQ(read_all(ends.server), "");
  EXPECT_EQ(ends.server.has_something(), false);
}

TEST(TlsSession, ACertificateOfAnotherHostIsRefused) {
  const TlsRig rig;
  for (const char* host : {"example.org", "localhost.example.org", "127.0.0.2", "::2"}) {
    Ends ends(rig, host);
    // The server knows that it is not meant when it is told the name, and the client when it sees the certificate.
    const Status shaken = ends.shake_hands();
    ASSERT_FALSE(shaken) << host;
    EXPECT_FALSE(ends.client.is_established()) << host;
    EXPECT_FALSE(ends.server.is_established()) << host;
    if (!std::string_view(host).starts_with('e') && !std::string_view(host).starts_with('l')) {
      EXPECT_EQ(shaken.error().code, Code::refused) << host;
      EXPECT_THAT(shaken.error().message, HasSubstr(host));
    }
    EXPECT_EQ(ends.client.received("x").error().code, ends.client.read(std::span<char>()).error().code);
  }
}

TEST(TlsSession, OnlyACertificateThatCountsNowIsAccepted) {
  TlsRig rig;
  using std::chrono::hours;
  const auto reason_with = [&](const Pem& pem) {
    rig.use(pem);
    Ends ends(rig);
    const Status shaken = ends.shake_hands();
    EXPECT_FALSE(shaken);
    return shaken ? std::string() : shaken.error().message;
  };
  EXPECT_THAT(reason_with(rig.authority.issue("localhost", testing::kThisMachine, {hours(-48), hours(-24)})),
              HasSubstr("expired"));
  EXPECT_THAT(reason_with(rig.authority.issue("localhost", testing::kThisMachine, {hours(24), hours(48)})),
              HasSubstr("not yet valid"));
  EXPECT_THAT(reason_with(testing::Authority("nobody").issue("localhost", testing::kThisMachine)), HasSubstr("issuer"));
}

TEST(TlsSession, TheSystemDoesNotKnowAnAuthorityOfOurOwn) {
  const TlsRig rig;
  TlsSession server = TlsSession::for_server(rig.server()).value();
  TlsSession client = TlsSession::for_client(TlsContext::for_client().value(), "localhost").value();
  ASSERT_TRUE(client.received({}));
  const Status shaken = carry(client, server);
  ASSERT_FALSE(shaken);
  EXPECT_EQ(shaken.error().code, Code::refused);
}

TEST(TlsSession, AChainLeadsToAnAuthorityThatIsKnown) {
  TlsRig rig;
  const testing::Authority between("between", rig.authority);
  Pem pem = between.issue("localhost", testing::kThisMachine);
  rig.use(pem);
  EXPECT_FALSE(Ends(rig).shake_hands()) << "without the certificate between";
  pem.certificate += between.certificate();
  rig.use(pem);
  const Status shaken = Ends(rig).shake_hands();
  EXPECT_TRUE(shaken) << shaken.error().message;
}

// A client as no other of ours is.
class RawSsl {
 public:
  explicit RawSsl(const TlsRig& rig) : server_(TlsSession::for_server(rig.server()).value()) {}
  RawSsl(const RawSsl&) = delete;
  RawSsl& operator=(const RawSsl&) = delete;
  ~RawSsl() {
    SSL_free(ssl);
    SSL_CTX_free(context);
  }

  void begin() {
    ssl = SSL_new(context);
    SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(ssl);
  }
  Status shake_hands() {
    if (ssl == nullptr) begin();
    Status worst;
    for (int i = 0; i < 10; ++i) {
      SSL_do_handshake(ssl);
      if (Status moved = move(); !moved && worst) worst = moved;
    }
    return worst;
  }
  // To the server, and back.
  Status move() {
    std::string out(BIO_ctrl_pending(SSL_get_wbio(ssl)), '\0');
    if (!out.empty()) BIO_read(SSL_get_wbio(ssl), out.data(), static_cast<int>(out.size()));
    Status received = server_.received(out);
    const std::string back = server_.take_outgoing();
    if (!back.empty()) BIO_write(SSL_get_rbio(ssl), back.data(), static_cast<int>(back.size()));
    return received;
  }

  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  SSL* ssl = nullptr;
  TlsSession& server() { return server_; }

 private:
  TlsSession server_;
};

TEST(TlsSession, OldVersionsAndWeakCiphersFail) {
  const TlsRig rig;
  for (const int version : {TLS1_VERSION, TLS1_1_VERSION}) {
    RawSsl old(rig);
    SSL_CTX_set_security_level(old.context, 0);
    SSL_CTX_set_min_proto_version(old.context, version);
    SSL_CTX_set_max_proto_version(old.context, version);
    EXPECT_FALSE(old.shake_hands()) << version;
    EXPECT_FALSE(old.server().is_established());
  }
  for (const char* ciphers : {"AES128-SHA", "ECDHE-ECDSA-AES128-SHA256", "ECDHE-ECDSA-AES256-SHA", "aNULL:eNULL"}) {
    RawSsl weak(rig);
    SSL_CTX_set_security_level(weak.context, 0);
    SSL_CTX_set_max_proto_version(weak.context, TLS1_2_VERSION);
    ASSERT_EQ(SSL_CTX_set_cipher_list(weak.context, ciphers), 1) << ciphers;
    EXPECT_FALSE(weak.shake_hands()) << ciphers;
    EXPECT_FALSE(weak.server().is_established());
  }
  RawSsl good(rig);
  SSL_CTX_set_max_proto_version(good.context, TLS1_2_VERSION);
  EXPECT_TRUE(good.shake_hands());
  EXPECT_TRUE(good.server().is_established());
  EXPECT_THAT(SSL_get_cipher_name(good.ssl), HasSubstr("GCM"));
}

TEST(TlsSession, RenegotiationIsRefusedAndNothingIsResumed) {
  const TlsRig rig;
  RawSsl client(rig);
  SSL_CTX_set_max_proto_version(client.context, TLS1_2_VERSION);
  ASSERT_TRUE(client.shake_hands());
  SSL_SESSION* const session = SSL_get_session(client.ssl);
  EXPECT_EQ(SSL_SESSION_has_ticket(session), 0);
  unsigned int id_size = 99;
  SSL_SESSION_get_id(session, &id_size);
  EXPECT_EQ(id_size, 0U);
  ASSERT_EQ(SSL_renegotiate(client.ssl), 1);
  for (int i = 0; i < 5; ++i) {
    SSL_do_handshake(client.ssl);
    (void)client.move();
    (void)client.server().has_something();
  }
  EXPECT_NE(SSL_renegotiate_pending(client.ssl) == 0 && SSL_is_init_finished(client.ssl) == 1 &&
                SSL_num_renegotiations(client.ssl) > 0,
            true);
  ERR_clear_error();
}

TEST(TlsSession, SpeaksHttp11OrNothing) {
  const TlsRig rig;
  constexpr unsigned char kH2[] = {2, 'h', '2'};
  constexpr unsigned char kBoth[] = {2, 'h', '2', 8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  RawSsl other(rig);
  SSL_CTX_set_alpn_protos(other.context, kH2, sizeof kH2);
  EXPECT_FALSE(other.shake_hands());
  RawSsl both(rig);
  SSL_CTX_set_alpn_protos(both.context, kBoth, sizeof kBoth);
  ASSERT_TRUE(both.shake_hands());
  const unsigned char* chosen = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(both.ssl, &chosen, &size);
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(chosen), size), "http/1.1");
}

TEST(TlsSession, ANameThatIsNotOursFails) {
  const TlsRig rig;
  for (const char* name : {"evil.example", "localhost.evil.example", "10.0.0.1"}) {
    RawSsl client(rig);
    client.begin();
    SSL_set_tlsext_host_name(client.ssl, name);
    EXPECT_FALSE(client.shake_hands()) << name;
  }
  RawSsl client(rig);
  client.begin();
  SSL_set_tlsext_host_name(client.ssl, "LOCALHOST");
  EXPECT_TRUE(client.shake_hands());
}

TEST(TlsSession, OneWhoMustHaveACertificateAndHasNoneIsRefused) {
  const TlsRig rig;
  TlsFiles files = rig.files();
  files.client_ca = rig.ca_file();
  const auto context = TlsContext::for_server(files).value();
  TlsSession server = TlsSession::for_server(context).value();
  TlsSession client = TlsSession::for_client(rig.client(), "localhost").value();
  ASSERT_TRUE(client.received({}));
  EXPECT_FALSE(carry(client, server));
  EXPECT_FALSE(server.is_established());
}

TEST(TlsSession, WhatIsNoTlsFails) {
  const TlsRig rig;
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), std::string(100, '\0'),
        std::string("\x16\x03\x01\xff\xff", 5), std::string("SSH-2.0-OpenSSH_9.2\r\n"), many_bytes(100'000)}) {
    TlsSession server = TlsSession::for_server(rig.server()).value();
    Status received;
    for (std::size_t at = 0; received && at < bytes.size(); at += 7) received = server.received(bytes.substr(at, 7));
    if (bytes.size() > 5) {
      EXPECT_FALSE(received) << bytes.substr(0, 20);
      EXPECT_EQ(received.error().code, Code::unreachable);
      EXPECT_EQ(server.received("more").error(), received.error());
    }
    EXPECT_FALSE(server.is_established());
  }
}

TEST(TlsSession, ATamperedRecordFails) {
  const TlsRig rig;
  Ends ends(rig);
  ASSERT_TRUE(ends.shake_hands());
  ASSERT_TRUE(ends.client.write("pay 10"));
  std::string record = ends.client.take_outgoing();
  record.back() = static_cast<char>(record.back() ^ 1);
  ASSERT_TRUE(ends.server.received(record));
  EXPECT_EQ(ends.server.has_something().error().code, Code::unreachable);
  EXPECT_FALSE(ends.server.write("x"));
  EXPECT_NE(ends.server.take_outgoing(), "") << "the client is told";
}

}  // namespace
}  // namespace kron::http
