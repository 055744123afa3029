#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cluster_read.h"
#include "kron/cluster/events.h"
#include "kron/cluster/job_reading.h"
#include "kron/cluster/signature.h"

// What verbs of `kron cluster` change.
namespace kron::cli {

// How hosts read the cluster's definitions. Signatures are not looked at: the key is the hosts'. `zones` must outlive
// it. Without a zone of the cluster yet, UTC.
Result<cluster::JobRules> read_rules(ClusterSession& session, ZoneDatabase& zones);

// The key that a flag or $KRON_JOBS_HMAC_KEY names; none when neither does.
Result<std::optional<cluster::SigningKey>> signing_key(const std::string& flag);

// The definition with its signature, everything else byte for byte as it was.
Result<std::string> signed_text(const cluster::SigningKey& key, const ClusterSession& session, const std::string& name,
                                const std::string& text);

// One definition on its way to another text.
struct Edit {
  enum class Outcome : std::uint8_t { pending, done, unchanged, gone };

  std::string name;
  std::string text;  // as it was read
  Outcome outcome = Outcome::pending;
};
// Writes each, as long as nobody else has written it since it was read; otherwise `change` is asked again with the text
// that is there now. `change` gives nothing for a text that it cannot edit: then only the set of paused jobs is
// written. `paused`: also in or out of that set.
using Change = std::function<Result<std::optional<std::string>>(const std::string& name, const std::string& text)>;
Status apply(ClusterSession& session, std::vector<Edit>& edits, const Change& change, std::optional<bool> paused);

enum class DefinitionWritten : std::uint8_t { added, replaced, kept };
// Into `:jobs`. One of that name is replaced or kept; a job that is paused stays so, unless the new text has a
// job_state of its own. A new job is not paused, whatever was left of an older one of its name.
Result<DefinitionWritten> write_definition(ClusterSession& session, const std::string& name, const std::string& text,
                                           bool replace);

// Tells all hosts. Repeated when the connection fails; how many heard it.
Result<std::int64_t> tell(ClusterSession& session, const cluster::Event& event, const cluster::Sender& sender = {});

// Sends the event, now and every 3 s, until `is_done` says so: events are not kept for hosts that do not listen at that
// moment. False: not within 15 s.
inline constexpr Nanoseconds kEffectLimit = Seconds(15);
Result<bool> tell_until(ClusterSession& session, const cluster::Event& event,
                        const std::function<Result<bool>()>& is_done);

// Says on standard error when nobody heard it.
void warn_if_unheard(std::string_view verb, std::int64_t hosts, std::string_view consequence);

// Job -> the fields of `:kron:state` that are its: its name, and for jobs without a lock one for each host.
using StateFields = std::map<std::string, std::vector<std::string>>;
Result<StateFields> read_state_fields(ClusterSession& session);

// Removes what is known of a job, unless it is in `:jobs` (again). How many things went.
Result<std::int64_t> prune_job(ClusterSession& session, const std::string& name,
                               std::span<const std::string> state_fields);

}  // namespace kron::cli
