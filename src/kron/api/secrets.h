#pragma once

#include "kron/api/access.h"
#include "kron/json/document.h"

namespace kron::api {

// A definition, in the words of jobs/model.h, as somebody with that right may see it. Values of the environment and the
// text for standard input are often passwords, in a file that only its owner may read, and whoever knows the URL of a
// check can ping in the job's name: without the right to administer they are null, and the names of the variables stay.
Node shown_to(Right right, const Node& definition);

}  // namespace kron::api
