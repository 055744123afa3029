#include "kron/cluster/signature.h"

#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "kron/env/real_file_system.h"
#include "kron/testing/temporary_directory.h"

namespace kron::cluster {
namespace {

const std::string kKeyText = "0123456789abcdef0123456789abcdef";

Node json_of(std::string_view text) { return parse_json(text).value(); }

// The expected values are those of Python: hmac.new(key, f"{namespace}\n{name}\n{canonical}".encode(), sha256), where
// canonical is json.dumps(…, sort_keys=True, separators=(",", ":"), ensure_ascii=False).
TEST(Signature, IsWhatAnybodyCanCompute) {
  struct Case {
    std::string name_space;
    std::string name;
    std::string definition;
    std::string canonical;
    std::string signature;
  };
  const Case cases[] = {
      {"{cronken}", "two",
       R"({"job_args": {"ttl": 10, "lock": true, "cmd": "echo hi"}, "cron_args": {"second": "*\/2"}, "other": 5})",
       R"({"cron_args":{"second":"*/2"},"job_args":{"cmd":"echo hi","lock":true,"ttl":10}})",
       "d8ab5b876c0031a43c01a19f0d00e31d40fb9e1c5771c019a4e420dcd8b8a15b"},
      {"ns", "ä b",
       R"({"kron": {"x": [1.0, -0.0, 1e+16, 1.5e300, 0.00001, 0.0001, 123456789.125, 0.1, 1e22, 5e-324, true, null, {}],
           "b": {"\u00e9": "\u0001)"
       "\x7f"
       R"(\"\\/\n\t", "a": []}}, "cron_args": {"z": 1, "a": 2}, "job_args": {}, "job_state": {"paused": true}})",
       R"({"cron_args":{"a":2,"z":1},"job_args":{},"kron":{"b":{"a":[],"é":"\u0001)"
       "\x7f"
       R"(\"\\/\n\t"},"x":[1.0,-0.0,1e+16,1.5e+300,1e-05,0.0001,123456789.125,0.1,1e+22,5e-324,true,null,{}]}})",
       "bb6b8575fd4ca56f50ee3737e132b2167dfe5f22873a5569f2a7fb5537f5c657"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(canonical_definition(json_of(c.definition)), c.canonical);
    EXPECT_EQ(SigningKey(kKeyText).sign(c.name_space, c.name, json_of(c.definition)), c.signature);
  }
}

std::string signed_definition(const std::string& signature, std::string_view command = "x",
                              std::string_view more = "") {
  return R"({"cron_args":{"hour":"1"},"job_args":{"cmd":")" + std::string(command) + R"(","lock":true,"ttl":1})" +
         (signature.empty() ? "" : R"(,"kron_sig":")" + signature + "\"") + std::string(more) + "}";
}

TEST(Signature, IsBoundToNamespaceNameAndDefinitionButNotToItsState) {
  const SignatureRules rules{.key = SigningKey(kKeyText), .is_required = true};
  const std::string good = rules.key->sign("ns", "a", json_of(signed_definition("")));
  const auto check = [&](std::string_view name_space, std::string_view name, const std::string& text) {
    return check_signature(rules, name_space, name, json_of(text)).has_value();
  };
  EXPECT_TRUE(check("ns", "a", signed_definition(good)));
  EXPECT_TRUE(check("ns", "a", signed_definition(good, "x", R"(,"job_state":{"paused":true},"unknown":1)")));
  EXPECT_FALSE(check("other", "a", signed_definition(good)));
  EXPECT_FALSE(check("ns", "b", signed_definition(good)));
  EXPECT_FALSE(check("ns", "a", signed_definition(good, "y")));
  EXPECT_FALSE(check("ns", "a", signed_definition(good, "x", R"(,"kron":{"user":"root"})")));
  EXPECT_FALSE(check("ns", "a", signed_definition(good.substr(1))));
  EXPECT_FALSE(check("ns", "a", signed_definition(good + "0")));
  EXPECT_FALSE(check("ns", "a", signed_definition("")));
}

TEST(Signature, IsAskedForByTheRules) {
  const std::string unsigned_text = signed_definition("");
  const std::string wrong = signed_definition(std::string(64, '0'));
  struct Case {
    SignatureRules rules;
    bool takes_unsigned;
    bool takes_wrong;
  };
  const Case cases[] = {{{}, true, true},
                        {{.is_required = true}, false, false},
                        {{.key = SigningKey(kKeyText)}, true, false},
                        {{.key = SigningKey(kKeyText), .is_required = true}, false, false}};
  for (const Case& c : cases) {
    EXPECT_EQ(check_signature(c.rules, "ns", "a", json_of(unsigned_text)).has_value(), c.takes_unsigned);
    EXPECT_EQ(check_signature(c.rules, "ns", "a", json_of(wrong)).has_value(), c.takes_wrong);
  }
}

TEST(Signature, KeysComeFromFilesThatOthersCannotRead) {
  const kron::testing::TemporaryDirectory directory;
  RealFileSystem file_system;
  const auto read = [&](const std::string& bytes, mode_t mode) {
    const std::string path = directory.path() + "/key";
    std::ofstream(path, std::ios::binary) << bytes;
    ::chmod(path.c_str(), mode);
    return SigningKey::read(file_system, path);
  };
  const std::string expected = SigningKey(kKeyText).sign("ns", "a", json_of("{}"));
  EXPECT_EQ(read(kKeyText + "\n", 0600)->sign("ns", "a", json_of("{}")), expected);
  EXPECT_EQ(read(kKeyText, 0400)->sign("ns", "a", json_of("{}")), expected);
  EXPECT_FALSE(read(kKeyText, 0640));
  EXPECT_FALSE(read(kKeyText, 0604));
  EXPECT_FALSE(read("too short\n", 0600));
  EXPECT_FALSE(SigningKey::read(file_system, directory.path() + "/none"));
  EXPECT_FALSE(SigningKey::read(file_system, "key"));
}

}  // namespace
}  // namespace kron::cluster
