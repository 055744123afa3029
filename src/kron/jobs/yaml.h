#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kron/jobs/problem.h"

namespace kron::jobs {

struct YamlLimits {
  std::size_t bytes = std::size_t{64} << 20;
  int depth = 32;
};

// The documents of a YAML 1.2 text (JSON is YAML), with positions. Plain scalars are typed by the core schema, but only
// when their spelling is canonical, so that what was written can always be had back: `0022` and `1.10` stay texts.
// Reported and refused: syntax errors, a key given twice, aliases (they can blow up a small file; `defaults:` does
// their work), keys that are not scalars, nesting and size beyond the limits. Then the documents before it are given.
std::vector<Node> parse_yaml(std::string_view text, Report& report, const YamlLimits& limits = {});

// Block style, canonical; parse_yaml reads it back. `node` must be a map or a list.
std::string yaml_text(const Node& node);

}  // namespace kron::jobs
