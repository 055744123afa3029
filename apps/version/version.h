#pragma once

namespace kron {

// What `--version` tells behind the program's name: "0.1.0", and where this was built from a commit that is no release,
// which one: "0.1.0 (v0.1.0-3-g1234567)".
const char* told_version();

}  // namespace kron
