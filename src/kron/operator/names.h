#pragma once

#include <string>
#include <string_view>

#include "kron/base/instant.h"

// Every name that the operator gives to a thing in the cluster is built here.
namespace kron::kronjobs {

inline constexpr std::string_view kKind = "KronJob";
inline constexpr std::string_view kApiVersion = "kron.io/v1alpha1";

inline constexpr std::string_view kNameLabel = "kron.io/name";      // the KronJob's; what the watch of Jobs selects on
inline constexpr std::string_view kPeriodLabel = "kron.io/period";  // period_mark, or that of a token

inline constexpr std::string_view kGate = "kron.io/gate";  // the generation; removed when the gate is opened
inline constexpr std::string_view kIdentity = "kron.io/identity";
inline constexpr std::string_view kPeriodId = "kron.io/period-id";
inline constexpr std::string_view kNominalTime = "kron.io/nominal-time";
inline constexpr std::string_view kChosenTime = "kron.io/chosen-time";
inline constexpr std::string_view kSeedHash = "kron.io/seed-hash";
inline constexpr std::string_view kDecision = "kron.io/decision";
inline constexpr std::string_view kTrigger = "kron.io/trigger";
inline constexpr std::string_view kRunNow = "kron.io/run-now";  // on a KronJob: the token of a run by hand

// A KronJob's name is a label of its Jobs, and labels have no more.
inline constexpr std::size_t kLongestName = 63;

std::string identity_of(std::string_view ns, std::string_view name);

// Ten hex digits of the identity and the period.
std::string period_mark(std::string_view identity, Instant period);

// The name is the lock: one period has one name, for ever. A DNS label of at most 51 characters, so that what indexed
// Jobs hang on still fits.
std::string job_name(std::string_view ns, std::string_view name, Instant period);
std::string manual_mark(std::string_view identity, std::string_view token);
std::string manual_job_name(std::string_view ns, std::string_view name, std::string_view token);

// 1 to 63 of [A-Za-z0-9._-].
bool is_token(std::string_view token);

}  // namespace kron::kronjobs
