#include "kron/kube/object.h"

#include <gtest/gtest.h>

#include "kron/base/rfc3339.h"

namespace kron::kube {
namespace {

Node object(std::string_view json) { return parse_json(json).value(); }

TEST(KubeObject, HasMetadata) {
  const Node job = object(R"({"metadata":{"namespace":"shop","name":"a","uid":"u","resourceVersion":"12",
      "generation":3,"creationTimestamp":"2026-03-01T12:00:00Z","deletionTimestamp":"2026-03-01T12:00:01Z"}})");
  const ObjectMeta meta = metadata_of(job).value();
  EXPECT_EQ(meta, (ObjectMeta{"shop", "a", "u", "12", 3, parse_rfc3339("2026-03-01T12:00:00Z").value(), true}));
}

TEST(KubeObject, WithoutMetadataIsNone) {
  EXPECT_EQ(metadata_of(object("{}")).error().field, "metadata");
  EXPECT_EQ(metadata_of(object("[]")).error().field, "metadata");
  EXPECT_EQ(metadata_of(object(R"({"metadata":{"namespace":"shop","name":"a","uid":5}})")).error().field,
            "metadata.uid");
  EXPECT_EQ(metadata_of(object(R"({"metadata":{"namespace":"s","name":"a","uid":"u","resourceVersion":"1",
      "creationTimestamp":"soon"}})"))
                .error()
                .field,
            "metadata.creationTimestamp");
}

TEST(KubeObject, IsReadByPath) {
  const Node node = object(R"({"a":{"b":"text","c":5,"d":true,"e":null}})");
  EXPECT_EQ(text_at(node, {"a", "b"}), "text");
  EXPECT_EQ(text_at(node, {"a", "c"}), "");
  EXPECT_EQ(text_at(node, {"a", "b", "c"}), "");
  EXPECT_EQ(integer_at(node, {"a", "c"}), 5);
  EXPECT_TRUE(is_true_at(node, {"a", "d"}));
  EXPECT_EQ(node_at(node, {"a", "e"}), nullptr);
}

TEST(KubeObject, VersionsAreComparedAsNumbers) {
  EXPECT_TRUE(is_older("9", "10"));
  EXPECT_FALSE(is_older("10", "10"));
  EXPECT_FALSE(is_older("11", "10"));
  EXPECT_FALSE(is_older("a", "10")) << "what is no number is never older";
  EXPECT_FALSE(is_older("9", ""));
}

}  // namespace
}  // namespace kron::kube
