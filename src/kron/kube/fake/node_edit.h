#pragma once

#include <string_view>

#include "kron/json/document.h"
#include "kron/kube/object.h"

// Documents are values that are not changed; a server changes its objects. Each gives the changed copy.
namespace kron::kube {

// Maps on the way are made where there are none.
Node with(const Node& map, Path path, Node value);
Node with_text(const Node& map, Path path, std::string_view text);
Node without(const Node& map, Path path);

// As JSON, for comparing.
bool is_same(const Node* a, const Node* b);

}  // namespace kron::kube
