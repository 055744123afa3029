#pragma once

namespace CLI {
class App;
}

namespace kron::cli {

// Flags that several verbs share, spelled the same in each.
void add_format(CLI::App& verb, bool& json);

}  // namespace kron::cli
