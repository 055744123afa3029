#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

#include "kron/json/document.h"
#include "kron/kube/config.h"

// What a model of a cluster and a real one are used with.
namespace kron::bench {

Node parsed(const std::string& text);
std::string contents_of(const std::string& path);
kube::Connection connection_of(const std::string& kubeconfig);

// A program with these words; what it prints goes to the file, and what it says of errors too.
pid_t spawn(const char* program, std::vector<std::string> words, const std::string& output, bool with_errors);

// Of a Job: its pods, as a template of a user has them.
extern const char kJobSpec[];
// A KronJob of this schedule, with a deadline of a minute.
std::string kron_job_text(const std::string& ns, const std::string& name, const std::string& schedule);

}  // namespace kron::bench
