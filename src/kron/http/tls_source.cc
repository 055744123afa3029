#include "kron/http/tls_source.h"

#include <sys/stat.h>
#include <utility>

namespace kron::http {

TlsSource::Seen TlsSource::look(const TlsFiles& files) {
  Seen seen{};
  std::size_t at = 0;
  for (const std::string* file : {&files.certificate, &files.key, &files.client_ca}) {
    // A name may lead to another file tomorrow: certbot and Kubernetes replace links.
    struct stat info {};
    if (!file->empty() && ::stat(file->c_str(), &info) == 0) {
      seen[at] = {static_cast<std::int64_t>(info.st_dev), static_cast<std::int64_t>(info.st_ino),
                  static_cast<std::int64_t>(info.st_size), static_cast<std::int64_t>(info.st_mtim.tv_sec),
                  static_cast<std::int64_t>(info.st_mtim.tv_nsec)};
    }
    ++at;
  }
  return seen;
}

Result<std::shared_ptr<TlsSource>> TlsSource::open(TlsFiles files) {
  const Seen seen = look(files);
  auto context = TlsContext::for_server(files);
  if (!context) return fail(context.error());
  return std::shared_ptr<TlsSource>(new TlsSource(std::move(files), seen, *std::move(context)));
}

std::shared_ptr<const TlsContext> TlsSource::context() const {
  const std::lock_guard lock(mutex_);
  return context_;
}

Status TlsSource::reload() {
  const std::lock_guard reading(reading_);
  // Before they are read: what is written meanwhile is seen the next time.
  seen_ = look(files_);
  auto context = TlsContext::for_server(files_);
  if (!context) return fail(context.error());
  const std::lock_guard lock(mutex_);
  context_.swap(*context);
  return {};
}

Result<bool> TlsSource::reload_if_changed() {
  {
    const std::lock_guard reading(reading_);
    if (look(files_) == seen_) return false;
  }
  if (const Status reloaded = reload(); !reloaded) return fail(reloaded.error());
  return true;
}

}  // namespace kron::http
