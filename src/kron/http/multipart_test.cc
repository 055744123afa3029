#include "kron/http/multipart.h"

#include <gtest/gtest.h>

#include "kron/testing/property.h"

namespace kron::http {
namespace {

constexpr std::string_view kType = "multipart/form-data; boundary=B";
const std::string kName = "Content-Disposition: form-data; name=\"a\"\r\n";

TEST(Multipart, WhatCurlSendsIsRead) {
  const std::string body =
      "--------------------------d74496d66958873e\r\n"
      "Content-Disposition: form-data; name=\"result\"\r\n\r\n"
      "{\"ok\":true}\r\n"
      "--------------------------d74496d66958873e\r\n"
      "Content-Disposition: form-data; name=\"output\"; filename=\"out \\\"1\\\".tar\"\r\n"
      "Content-Type: application/x-tar\r\n\r\n"
      "\r\n--not the boundary\r\n\r\n"
      "--------------------------d74496d66958873e--\r\n";
  const auto parts =
      parse_multipart("Multipart/Form-Data; Boundary=\"------------------------d74496d66958873e\"", body);
  ASSERT_TRUE(parts) << parts.error().message;
  const std::vector<Part> expected{{"result", "", "", "{\"ok\":true}"},
                                   {"output", "application/x-tar", "out \"1\".tar", "\r\n--not the boundary\r\n"}};
  EXPECT_EQ(*parts, expected);
}

TEST(Multipart, BrokenBodiesAreRefused) {
  const std::string good = "--B\r\n" + kName + "\r\nx\r\n--B--\r\n";
  ASSERT_TRUE(parse_multipart(kType, good));
  std::string seventeen;
  for (int i = 0; i < 17; ++i) {
    seventeen += "--B\r\nContent-Disposition: form-data; name=\"" + std::to_string(i) + "\"\r\n\r\n\r\n";
  }
  const struct {
    const char* what;
    std::string body;
  } table[] = {
      {"nothing", ""},
      {"no boundary", "x"},
      {"a preamble", "hello\r\n" + good},
      {"an epilogue", good + "x"},
      {"no end", "--B\r\n" + kName + "\r\nx\r\n--B\r\n"},
      {"no last boundary", "--B\r\n" + kName + "\r\nx\r\n"},
      {"line feeds only", "--B\n" + kName + "\nx\n--B--\n"},
      {"no headers", "--B\r\nx\r\n--B--\r\n"},
      {"no name", "--B\r\nContent-Disposition: form-data\r\n\r\nx\r\n--B--\r\n"},
      {"an empty name", "--B\r\nContent-Disposition: form-data; name=\"\"\r\n\r\nx\r\n--B--\r\n"},
      {"another disposition", "--B\r\nContent-Disposition: attachment; name=\"a\"\r\n\r\nx\r\n--B--\r\n"},
      {"an open quote", "--B\r\nContent-Disposition: form-data; name=\"a\r\n\r\nx\r\n--B--\r\n"},
      {"a name twice", "--B\r\nContent-Disposition: form-data; name=a; name=b\r\n\r\nx\r\n--B--\r\n"},
      {"junk behind a quote", "--B\r\nContent-Disposition: form-data; name=\"a\"b\r\n\r\nx\r\n--B--\r\n"},
      {"a header twice", "--B\r\n" + kName + kName + "\r\nx\r\n--B--\r\n"},
      {"an encoding", "--B\r\n" + kName + "Content-Transfer-Encoding: base64\r\n\r\neA==\r\n--B--\r\n"},
      {"a control character", "--B\r\n" + kName + "Content-Type: a\x01\r\n\r\nx\r\n--B--\r\n"},
      {"a part twice", "--B\r\n" + kName + "\r\nx\r\n" + good},
      {"too many parts", seventeen + "--B--\r\n"},
      {"an endless head", "--B\r\n" + kName + "Content-Type: " + std::string(5000, 'x') + "\r\n\r\nx\r\n--B--\r\n"},
  };
  for (const auto& row : table) {
    const auto parts = parse_multipart(kType, row.body);
    ASSERT_FALSE(parts) << row.what;
    EXPECT_EQ(parts.error().code, Code::invalid) << row.what;
  }
}

TEST(Multipart, AContentTypeWithoutAUsableBoundaryIsRefused) {
  for (const std::string type :
       {"", "application/json", "multipart/mixed; boundary=B", "multipart/form-data",
        "multipart/form-data; boundary=", "multipart/form-data; boundary=\"B", "multipart/form-data; boundary=\"B \"",
        "multipart/form-data; boundary=a\tb", "multipart/form-data; boundary=\xC3\xA9",
        "multipart/form-data; boundary=B; boundary=C"}) {
    EXPECT_FALSE(parse_multipart(type, "--B--\r\n")) << type;
  }
  EXPECT_FALSE(parse_multipart("multipart/form-data; boundary=" + std::string(71, 'B'), "--B--\r\n"));
}

TEST(Multipart, WhatIsWrittenIsReadBack) {
  testing::for_all(300, [](std::vector<std::string> contents) {
    if (contents.size() > 16) contents.resize(16);
    std::vector<Part> parts;
    for (const std::string& bytes : contents) {
      Part& part = parts.emplace_back();
      part.name = "part \"" + std::to_string(parts.size()) + "\" \\";
      if (bytes.size() % 2 == 0) part.filename = "file";
      if (bytes.size() % 3 == 0) part.content_type = "text/plain; charset=utf-8";
      part.bytes = bytes + "\r\n--kron";
    }
    const MultipartBody body = multipart_body(parts);
    const auto read = parse_multipart(body.content_type, body.bytes);
    RC_ASSERT(read.has_value());
    RC_ASSERT(*read == parts);
  });
}

TEST(Multipart, AnyBytesAreReadOrRefused) {
  testing::for_all(500, [](const std::string& type, const std::string& body) {
    (void)parse_multipart("multipart/form-data; " + type, body);
    (void)parse_multipart(kType, "--B\r\n" + body + "\r\n--B--\r\n");
  });
}

}  // namespace
}  // namespace kron::http
