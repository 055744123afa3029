#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/http/fake/tls_rig.h"
#include "kron/http/tls.h"
#include "kron/http/tls_source.h"

namespace kron::http {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::Pem;
using testing::TlsRig;

std::string problem_with(const TlsFiles& files) {
  const auto context = TlsContext::for_server(files);
  EXPECT_FALSE(context);
  return context ? std::string() : context.error().message;
}

TEST(TlsContext, KnowsWhenItsFirstCertificateRunsOut) {
  using std::chrono::hours;
  TlsRig rig;
  const Instant now = std::chrono::floor<Seconds>(std::chrono::system_clock::now());
  const testing::Authority between("between", rig.authority);  // for a day
  Pem pem = between.issue("localhost", testing::kThisMachine, {hours(-1), hours(24 * 90)});
  rig.use(pem);
  EXPECT_LT(abs(rig.server()->expires() - (now + hours(24 * 90))), Seconds(600));
  pem.certificate += between.certificate();
  rig.use(pem);
  EXPECT_LT(abs(rig.server()->expires() - (now + hours(24))), Seconds(600));
}

TEST(TlsContext, NamesTheFileThatCannotBeUsed) {
  const TlsRig rig;
  const TlsFiles files = rig.files();
  EXPECT_THAT(problem_with({rig.directory.file("none"), files.key}), HasSubstr(rig.directory.file("none")));
  EXPECT_THAT(problem_with({files.certificate, rig.directory.file("none")}), HasSubstr(rig.directory.file("none")));
  EXPECT_THAT(problem_with({rig.directory.path(), files.key}), HasSubstr(rig.directory.path()));
  EXPECT_THAT(problem_with({files.key, files.key}), AllOf(HasSubstr(files.key), HasSubstr("no certificate")));
  EXPECT_THAT(problem_with({files.certificate, files.certificate}), HasSubstr(files.certificate));
  TlsFiles strict = files;
  strict.client_ca = files.key;
  EXPECT_THAT(problem_with(strict), HasSubstr(files.key));
  EXPECT_THAT(TlsContext::for_client(files.key).error().message, HasSubstr(files.key));
  EXPECT_EQ(TlsContext::for_client(rig.directory.file("none")).error().code, Code::not_found);
}

TEST(TlsContext, AKeyThatIsNotTheCertificatesIsAnError) {
  const TlsRig rig;
  rig.write("key.pem", rig.authority.issue("localhost", testing::kThisMachine).key);
  EXPECT_THAT(problem_with(rig.files()), AllOf(HasSubstr("key.pem"), HasSubstr("cert.pem"), HasSubstr("together")));
}

// However short a file is cut off, it is no certificate, and no key.
TEST(TlsContext, AFileThatIsHalfWrittenIsAnError) {
  const TlsRig rig;
  const testing::Authority between("between", rig.authority);
  const Pem pem = between.issue("localhost", testing::kThisMachine);
  const std::string chain = pem.certificate + between.certificate();
  // What is cut off exactly between two certificates cannot be told.
  for (std::size_t size = 0; size < chain.size() - 1; size += size + 60 < pem.certificate.size() ? 19 : 1) {
    const bool is_between = size + 1 >= pem.certificate.size() && size <= pem.certificate.size();
    if (is_between) continue;
    rig.use({chain.substr(0, size), pem.key});
    EXPECT_FALSE(TlsContext::for_server(rig.files())) << size << " of " << chain.size() << chain.substr(0, size);
  }
  for (std::size_t size = 0; size < pem.key.size() - 1; size += 3) {
    rig.use({chain, pem.key.substr(0, size)});
    EXPECT_FALSE(TlsContext::for_server(rig.files())) << size << " of " << pem.key.size();
  }
  rig.use({chain + "\nwritten by hand\n", pem.key});
  EXPECT_TRUE(TlsContext::for_server(rig.files()));
}

TEST(TlsContext, AKeyWithAPassphraseIsAnErrorAndNobodyIsAsked) {
  const TlsRig rig;
  rig.write("key.pem",
            "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: "
            "AES-256-CBC,00112233445566778899AABBCCDDEEFF\n\n"
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n-----END EC PRIVATE KEY-----\n");
  EXPECT_THAT(problem_with(rig.files()), AllOf(HasSubstr("key.pem"), HasSubstr("passphrase")));
}

TEST(TlsSource, ServesAnotherPairOnceItIsThere) {
  const TlsRig rig;
  const auto source = rig.source();
  const auto first = source->context();
  EXPECT_EQ(source->reload_if_changed(), false);
  EXPECT_EQ(source->context(), first);
  rig.use(rig.authority.issue("localhost", testing::kThisMachine, {std::chrono::hours(-1), std::chrono::hours(48)}));
  EXPECT_EQ(source->context(), first) << "not before it is told to look";
  EXPECT_EQ(source->reload_if_changed(), true);
  EXPECT_NE(source->context(), first);
  EXPECT_GT(source->context()->expires(), first->expires());
  EXPECT_EQ(source->reload_if_changed(), false);
  ASSERT_TRUE(source->reload());
}

TEST(TlsSource, KeepsTheOldPairUntilTheNewOneIsWhole) {
  const TlsRig rig;
  const auto source = rig.source();
  const auto first = source->context();
  const Pem next = rig.authority.issue("localhost", testing::kThisMachine);
  rig.write("cert.pem", next.certificate);
  EXPECT_THAT(source->reload_if_changed().error().message, HasSubstr("key.pem")) << "the earlier key";
  EXPECT_EQ(source->context(), first);
  EXPECT_EQ(source->reload_if_changed(), false) << "said once";
  rig.write("key.pem", next.key.substr(0, 100));
  EXPECT_FALSE(source->reload_if_changed());
  EXPECT_FALSE(source->reload());
  EXPECT_EQ(source->context(), first);
  std::filesystem::remove(rig.files().key);
  EXPECT_FALSE(source->reload_if_changed());
  rig.write("key.pem", next.key);
  EXPECT_EQ(source->reload_if_changed(), true);
  EXPECT_NE(source->context(), first);
}

TEST(TlsSource, FollowsALinkThatLeadsElsewhere) {
  const TlsRig rig;
  const std::string link = rig.directory.file("live");
  std::filesystem::create_symlink("cert.pem", link);
  const auto source = TlsSource::open({link, rig.files().key}).value();
  rig.write("other.pem", rig.pem.certificate);
  std::filesystem::remove(link);
  std::filesystem::create_symlink("other.pem", link);
  EXPECT_EQ(source->reload_if_changed(), true);
}

}  // namespace
}  // namespace kron::http
