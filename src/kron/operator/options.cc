#include "kron/operator/options.h"

#include <algorithm>

#include "kron/base/text.h"
#include "kron/env/places.h"

namespace kron::kronjobs {
namespace {

// A DNS subdomain, as names of objects are; namespaces are stricter, and the server says so.
bool is_object_name(std::string_view name) {
  constexpr std::size_t kLongest = 253;
  const auto is_plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.'; };
  return !name.empty() && name.size() <= kLongest && std::ranges::all_of(name, is_plain) && name.front() != '-' &&
         name.back() != '-';
}

std::vector<std::string> split_by_slash(std::string_view text) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == '/') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

Status wrong(std::string_view flag, std::string_view why) {
  return fail(Code::unreadable, std::string(flag) + " " + std::string(why));
}

// A file that is not there is passed by when a variable names it, as kubectl does.
Result<std::vector<kube::ConfigFile>> read_all(const std::vector<std::string>& paths, const ReadText& read_text) {
  std::vector<kube::ConfigFile> files;
  for (const std::string& path : paths) {
    Result<std::string> text = read_text(path);
    if (text) {
      files.push_back({absolute_path(path), *std::move(text)});
    } else if (text.error().code != Code::not_found) {
      return fail(Code::unreadable, path + ": " + text.error().message);
    }
  }
  return files;
}

Result<kube::Connection> of_files(const std::vector<kube::ConfigFile>& files) {
  Result<kube::Connection> read = kube::read_kubeconfig(files);
  if (!read) return fail(Code::unreadable, "the kubeconfig: " + read.error().message);
  return read;
}

}  // namespace

Status check(const Options& options) {
  if (!(options.qps > 0) || options.qps > 1e6) return wrong("--qps", "must be above 0, and at most 1000000");
  if (!(options.burst >= 1) || options.burst > 1e6) return wrong("--burst", "must be from 1 to 1000000");
  if (!is_object_name(options.lease_name)) {
    return wrong("--lease-name", "must be a name of lower-case letters, digits, '-' and '.'");
  }
  if (!options.lease_namespace.empty() && !is_object_name(options.lease_namespace)) {
    return wrong("--lease-namespace", "must be the name of a namespace");
  }
  if (!options.ns.empty() && !is_object_name(options.ns))
    return wrong("--namespace", "must be the name of a namespace");
  if (options.test_jobs.empty()) return {};
  const std::vector<std::string> parts = split_by_slash(options.test_jobs);
  const bool is_whole = parts.size() == 4 && std::ranges::none_of(parts, &std::string::empty);
  return is_whole ? Status()
                  : wrong("--test-jobs", "must be GROUP/VERSION/PLURAL/KIND, such as test.kron.io/v1/jobs/Job");
}

JobApi job_api_of(const Options& options) {
  if (options.test_jobs.empty()) return {};
  const std::vector<std::string> parts = split_by_slash(options.test_jobs);
  return {.group_version = parts[0] + "/" + parts[1], .kind = parts[3], .plural = parts[2]};
}

Error no_kubeconfig(std::string_view named) {
  const std::string looked_for = named.empty() ? "There is no ~/.kube/config, and KUBECONFIG is not set"
                                               : "KUBECONFIG is " + quoted(named, 200) + ", and no such file is there";
  return {Code::unreadable, "which cluster? " + looked_for +
                                "; give --kubeconfig PATH, set KUBECONFIG, or copy the kubeconfig of the cluster to "
                                "~/.kube/config"};
}

Result<kube::Connection> find_connection(const Options& options, const kube::GetVariable& variable,
                                         const ReadText& read_text) {
  if (!options.kubeconfig.empty()) {
    Result<std::string> text = read_text(options.kubeconfig);
    if (!text) return fail(Code::unreadable, options.kubeconfig + ": " + text.error().message);
    return of_files({{absolute_path(options.kubeconfig), *std::move(text)}});
  }
  const std::string named = variable("KUBECONFIG").value_or("");
  if (named.empty()) {
    const Result<std::string> ns = read_text(std::string(kube::kServiceAccount) + "/namespace");
    Result<kube::Connection> own = kube::in_cluster(variable, ns.value_or(""));
    if (own) return own;
  }
  const auto files = read_all(kube::kubeconfig_paths(named, variable("HOME").value_or("")), read_text);
  if (!files) return fail(files.error());
  if (!files->empty()) return of_files(*files);
  return fail(no_kubeconfig(named));
}

}  // namespace kron::kronjobs
