#include <cstdio>
#include <sys/stat.h>
#include <unistd.h>

#include "answer_text.h"
#include "daemon_client.h"
#include "editor.h"
#include "kron/base/text.h"
#include "kron/jobs/disk.h"
#include "lines.h"
#include "operate_verbs.h"
#include "verbs.h"

namespace kron::cli {
namespace {

struct EditPlace {
  std::string file;
  std::size_t line = 0;
  std::string spelling = {};  // as --source names it; empty: by the file's name
};

bool is_regular_file(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

// A name with a slash, or that of a file that is here, is meant as a file unless krond has such a job.
Result<EditPlace> place_of(DaemonClient& client, const std::string& name) {
  const auto body = client.get(Target("jobs").segment(name));
  if (!body && body.error().code == Code::not_found && is_regular_file(name)) return EditPlace{name};
  if (!body) return fail(body.error());
  const auto job = parsed_answer(*body);
  if (!job) return fail(job.error());
  const std::string file = text_in(*job, "file");
  if (file.empty()) {
    return fail(Code::conflict,
                "job " + quoted(name, 200) + " stands in no file; it is one of a cluster, see kron cluster");
  }
  return EditPlace{file, static_cast<std::size_t>(number_in(*job, "line")), text_in(*job, "spelling")};
}

Status check_editable(const EditPlace& place) {
  if (!is_regular_file(place.file)) {
    return fail(Code::unreadable, quoted(place.file, 400) + " is no file on this host; edit it where krond runs");
  }
  if (::access(place.file.c_str(), W_OK) == 0) return {};
  return fail(Code::refused, quoted(place.file, 400) + " is not yours to write; run `kron edit` as its owner");
}

// Who edits is asked whether to go on; nobody can be asked where there is no terminal.
bool wants_to_edit_again() {
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDERR_FILENO) != 1) return false;
  std::fputs("Edit it again? [Y/n] ", stderr);
  const int answer = std::getchar();
  for (int c = answer; c != '\n' && c != EOF; c = std::getchar()) {
  }
  return answer != EOF && answer != 'n' && answer != 'N';
}

}  // namespace

int edit_jobs(const NameOptions& options) {
  auto client = DaemonClient::open(options);
  if (!client) return refuse("edit", client.error(), options.json);
  if (const Status here = client->must_be_here("edits files of its own host"); !here) {
    return refuse("edit", here.error(), options.json);
  }
  const auto place = place_of(*client, options.name);
  if (!place) return refuse("edit", place.error(), options.json);
  if (const Status good = check_editable(*place); !good) return refuse("edit", good.error(), options.json);
  const auto before = jobs::contents_of(place->file);
  if (!before) return refuse("edit", before.error(), options.json);
  while (true) {
    if (const Status edited = edit_file(editors(), place->file, place->line); !edited) {
      return refuse("edit", edited.error(), options.json);
    }
    const auto after = jobs::contents_of(place->file);
    if (!after) return refuse("edit", after.error(), options.json);
    if (*after == *before) {
      std::printf("%s has not changed; nothing is reloaded\n", harmless(place->file).c_str());
      return 0;
    }
    LintVerbOptions look;
    look.files.paths = {place->file};
    look.files.source = place->spelling;
    const int linted = lint(look);
    if (linted == 0) break;
    if (!wants_to_edit_again()) {
      std::fprintf(stderr, "kron edit: %s has errors, and krond has not been told to read it; its earlier jobs go on\n",
                   harmless(place->file).c_str());
      return linted;
    }
  }
  return reload_jobs(ReloadOptions{options});
}

}  // namespace kron::cli
