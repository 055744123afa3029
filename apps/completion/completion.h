#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

// Scripts that complete a program's words in a shell.
namespace kron::completion {

// What may stand where a flag or an argument wants a value.
struct Values {
  std::vector<std::string> words = {};  // the only ones it takes
  bool are_files = false;
  bool are_jobs = false;  // names of krond's jobs
};

struct Flag {
  std::string name;  // --format
  std::string summary;
  Values values = {};
};

struct Verb {
  std::string name;
  std::string summary;
  std::vector<Flag> flags = {};
  Values arguments = {};
};

struct Program {
  std::string name;
  std::vector<Flag> flags = {};
  std::vector<Verb> verbs = {};  // none: the flags are all
};

// Read back from the flags as they were declared. A verb that has verbs of its own completes their names, and the flags
// of them all. What takes names of jobs is called JOB; an argument NAME, of a job or a run, counts
// as one.
Program program_of(const CLI::App& app);

// For `bash`, `zsh` or `fish`.
std::string script(const std::string& shell, const Program& program);

}  // namespace kron::completion
