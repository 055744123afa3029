#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "kron/base/instant.h"
#include "kron/base/result.h"
#include "kron/json/document.h"

// What every object of the API server has.
namespace kron::kube {

using Path = std::initializer_list<std::string_view>;

// The value at the end of the path; null when it is not there, or is null.
const Node* node_at(const Node& object, Path path);
// The text there; empty when there is none.
std::string text_at(const Node& object, Path path);
std::optional<std::int64_t> integer_at(const Node& object, Path path);
bool is_true_at(const Node& object, Path path);

struct ObjectMeta {
  std::string ns;
  std::string name;
  std::string uid = {};
  std::string resource_version = {};
  std::int64_t generation = 0;
  Instant created = {};
  bool deleting = false;  // it has a deletionTimestamp

  bool operator==(const ObjectMeta&) const = default;
};

// Refused with code invalid: no object that a server has stored. The error's field says what it lacks.
Result<ObjectMeta> metadata_of(const Node& object);
// The same of what was read otherwise, but for its creationTimestamp.
Result<ObjectMeta> complete(ObjectMeta meta, std::string_view created);

// None: the object has no such annotation.
std::optional<std::string> annotation_of(const Node& object, std::string_view key);

// The uid of the owner that controls the object, when it is of this kind; empty otherwise.
std::string controller_uid(const Node& object, std::string_view kind);

// Versions of one kind of object are compared as numbers, which all API servers guarantee by now. What is no number is
// never older.
bool is_older(std::string_view version, std::string_view than);

}  // namespace kron::kube
