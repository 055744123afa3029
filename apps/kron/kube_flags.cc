#include <CLI/CLI.hpp>
#include <array>
#include <memory>

#include "kube_verbs.h"
#include "nested_verbs.h"
#include "next_times.h"
#include "shared_flags.h"

namespace kron::cli {
namespace {

void add_kube_flags(CLI::App& verb, KubeOptions& options) {
  verb.add_option("--kubeconfig", options.kubeconfig,
                  "Where the cluster is and who we are (default: $KUBECONFIG, else ~/.kube/config, else the account of "
                  "the pod we are in)")
      ->type_name("PATH");
  verb.add_option("--context", options.context, "A context of the kubeconfig (default: its current one)")
      ->type_name("NAME");
  verb.add_option("-n,--namespace", options.ns, "The namespace (default: that of the context)")->type_name("NS");
  add_format(verb, options.json);
  add_times(verb, options.times);
}

CLI::Option* add_manifests(CLI::App& verb, std::vector<std::string>& files) {
  return verb
      .add_option("-f,--file", files, "Manifests, or directories of them, instead of a cluster; - is standard input")
      ->type_name("PATH");
}

std::function<int()> set_up_kube_next(CLI::App& verb) {
  const auto options = std::make_shared<KubeNextOptions>();
  auto* names =
      verb.add_option("KRONJOB", options->names, "KronJobs, as NAME or NAMESPACE/NAME (all of the namespace)");
  auto* files = add_manifests(verb, options->files);
  auto* everywhere = verb.add_flag("-A,--all-namespaces", options->all_namespaces, "All of the cluster");
  verb.add_option("--from", options->from, "Start at this time (default: now)")->type_name("TIME");
  auto* count = verb.add_option("--count", options->count, "How many")
                    ->type_name("N")
                    ->check(CLI::Range(0, static_cast<int>(kMostTimes)))
                    ->capture_default_str();
  auto* length = verb.add_option("--for", options->duration, "All periods within this time")->type_name("DURATION");
  add_kube_flags(verb, *options);
  everywhere->excludes(names)->excludes(files);
  length->excludes(count);
  return [options] { return kube_next(*options); };
}

std::function<int()> set_up_kube_explain(CLI::App& verb) {
  const auto options = std::make_shared<KubeExplainOptions>();
  verb.add_option("KRONJOB", options->name, "The KronJob, as NAME or NAMESPACE/NAME")->required();
  add_manifests(verb, options->files);
  auto* at = verb.add_option("--at", options->at, "The period that this time belongs to")->type_name("TIME");
  verb.add_option("--period", options->period, "The period of this id (default: the next one)")
      ->type_name("ID")
      ->excludes(at);
  verb.add_option("--now", options->now, "Judge as at this time (default: now)")->type_name("TIME");
  add_kube_flags(verb, *options);
  return [options] { return kube_explain(*options); };
}

std::function<int()> set_up_kube_why(CLI::App& verb) {
  const auto options = std::make_shared<KubeExplainOptions>();
  verb.add_option("KRONJOB", options->name, "The KronJob, as NAME or NAMESPACE/NAME")->required();
  auto* at = verb.add_option("--at", options->at, "The period that this time belongs to, or the run that went on then")
                 ->type_name("TIME");
  verb.add_option("--period", options->period, "The period of this nominal time (default: the last one that was due)")
      ->type_name("TIME")
      ->excludes(at);
  verb.add_option("--now", options->now, "Judge as at this time (default: now)")->type_name("TIME");
  add_kube_flags(verb, *options);
  return [options] { return kube_why(*options); };
}

std::function<int()> set_up_kube_trigger(CLI::App& verb) {
  const auto options = std::make_shared<KubeTriggerOptions>();
  verb.add_option("KRONJOB", options->name, "The KronJob, as NAME or NAMESPACE/NAME")->required();
  verb.add_flag("--wait", options->wait, "Wait for the Job to end; exit status 0 when it completed, 1 otherwise");
  verb.add_option("--timeout", options->timeout, "Stop waiting after this long, with exit status 4 (default: never)")
      ->type_name("DURATION")
      ->needs("--wait");
  verb.add_option("--id", options->id, "Repeating a call with the same id starts no second run (default: a random id)")
      ->type_name("ID");
  add_kube_flags(verb, *options);
  return [options] { return kube_trigger(*options); };
}

template <int (*Run)(const KubeNamesOptions&)>
std::function<int()> set_up_kube_switch(CLI::App& verb) {
  const auto options = std::make_shared<KubeNamesOptions>();
  auto* names = verb.add_option("KRONJOB", options->names, "KronJobs, as NAME or NAMESPACE/NAME");
  auto* all = verb.add_flag("--all", options->all, "All of the namespace");
  all->excludes(names);
  verb.final_callback([names, all] {
    if (names->count() + all->count() == 0) throw CLI::RequiredError("KRONJOB or --all");
  });
  add_kube_flags(verb, *options);
  return [options] { return Run(*options); };
}

std::function<int()> set_up_kube_lint(CLI::App& verb) {
  const auto options = std::make_shared<KubeLintOptions>();
  verb.add_option("PATH", options->paths, "Manifests, or directories of them; - is standard input")
      ->type_name("PATH")
      ->required();
  verb.add_option("-n,--namespace", options->ns, "The namespace of manifests that name none")
      ->type_name("NS")
      ->capture_default_str();
  verb.add_option("--now", options->now, "Look forward from this time (default: now)")->type_name("TIME");
  verb.add_flag("-q,--quiet", options->quiet, "Show errors only; warnings are still counted");
  add_format(verb, options->json);
  return [options] { return kube_lint(*options); };
}

constexpr std::array kKubeVerbs{
    Verb{"next", "Show the next periods of KronJobs, in a cluster or in manifests",
         "  kron kube next\n"
         "  kron kube next report -n shop --count 3\n"
         "  kron kube next -f report.yaml --for 24h --format json",
         set_up_kube_next},
    Verb{"explain", "Explain why a period ran, did not run, or when it will",
         "  kron kube explain report\n"
         "  kron kube explain shop/report --period 2026-03-01T03:00:00Z\n"
         "  kron kube explain report -f report.yaml --at 2026-03-01T03:20:00Z",
         set_up_kube_explain},
    Verb{"why", "Tell why a KronJob ran, or did not, at a time",
         "  kron kube why report\n  kron kube why shop/report --at 2026-03-01T03:20:00Z", set_up_kube_why},
    Verb{"trigger", "Run a KronJob now, once",
         "  kron kube trigger report --wait\n  kron kube trigger report --id deploy-17", set_up_kube_trigger},
    Verb{"suspend", "Let KronJobs start nothing until they are resumed",
         "  kron kube suspend report\n  kron kube suspend --all -n shop", set_up_kube_switch<kube_suspend>},
    Verb{"resume", "Resume suspended KronJobs", "  kron kube resume report", set_up_kube_switch<kube_resume>},
    Verb{"lint", "Check manifests of KronJobs for errors and likely mistakes, without a cluster",
         "  kron kube lint manifests/\n  kron kube lint report.yaml --format json", set_up_kube_lint},
};

}  // namespace

std::function<int()> set_up_kube(CLI::App& verb) { return set_up_nested(verb, kKubeVerbs); }

}  // namespace kron::cli
