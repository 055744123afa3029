#include "kron/kube/base64.h"

#include <gtest/gtest.h>

namespace kron::kube {
namespace {

TEST(Base64, IsReadAsInTheRfc) {
  const std::pair<const char*, const char*> kTable[] = {
      {"", ""},
      {"Zg==", "f"},
      {"Zm8=", "fo"},
      {"Zm9v", "foo"},
      {"Zm9vYg==", "foob"},
      {"Zm9vYmE=", "fooba"},
      {"Zm9v\n YmFy\r\n", "foobar"},
  };
  for (const auto& [text, bytes] : kTable) EXPECT_EQ(decode_base64(text).value(), bytes) << text;
  EXPECT_EQ(decode_base64("//79AA==").value(), std::string("\xFF\xFE\xFD\0", 4));
}

TEST(Base64, IsWrittenAsItIsRead) {
  EXPECT_EQ(encode_base64("fooba"), "Zm9vYmE=");
  for (std::size_t size = 0; size < 10; ++size) {
    const std::string bytes(size, static_cast<char>(0xF0U + size));
    EXPECT_EQ(decode_base64(encode_base64(bytes)).value(), bytes);
  }
}

TEST(Base64, IsRefusedWhenItIsNone) {
  for (const char* text :
       {"Z", "Zg", "Zg=", "Zm9", "Z===", "====", "Zg==Zg==", "Zm-v", "Zm_v", "Zm9v!", "Zh==", "Zm9="}) {
    EXPECT_FALSE(decode_base64(text)) << text;
  }
}

TEST(Base64, IsNeverShownInAMessage) {
  EXPECT_EQ(decode_base64("c2VjcmV0!").error().message.find("c2Vj"), std::string::npos);
}

}  // namespace
}  // namespace kron::kube
