#pragma once

namespace kron::cli {

// From now on no core of this process is written, and no other process of its user looks into it: what is in its memory
// are keys to krond.
void keep_memory_private();

// Whether the words of a command, or its environment, lead to a token: one that is shown, or made by `kron token`.
bool leads_to_token(int argc, const char* const* argv);

}  // namespace kron::cli
