#pragma once

#include <string>
#include <string_view>

namespace kron::jobs {

// A name for a job that people recognise, made of its command: the program and its first plain argument, without paths
// (`cd / && run-parts --report /etc/cron.daily` gives run-parts-cron.daily). Always a name that job files allow; not
// unique.
std::string readable_name(std::string_view command);

}  // namespace kron::jobs
