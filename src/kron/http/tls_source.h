#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>

#include "kron/base/result.h"
#include "kron/http/tls.h"

namespace kron::http {

// The context of a server whose files may be replaced while it serves. Connections that are open keep the one they
// began with. May be used from any thread.
class TlsSource {
 public:
  static Result<std::shared_ptr<TlsSource>> open(TlsFiles files);

  // For a connection that begins now; never none.
  std::shared_ptr<const TlsContext> context() const;

  // Reads the files again. An error says which cannot be used; then the earlier context stays.
  Status reload();
  // The same, if they are not what they were when they were last read, whether they could be used then or not. True:
  // there is another context. Cheap enough to be asked every minute.
  Result<bool> reload_if_changed();

 private:
  // Of each file, as stat(2) has it: which it is, and when and how it was last written.
  using Seen = std::array<std::array<std::int64_t, 5>, 3>;

  TlsSource(TlsFiles files, Seen seen, std::shared_ptr<const TlsContext> context)
      : files_(std::move(files)), seen_(seen), context_(std::move(context)) {}
  static Seen look(const TlsFiles& files);

  const TlsFiles files_;
  std::mutex reading_;  // one reads at a time
  Seen seen_;
  mutable std::mutex mutex_;
  std::shared_ptr<const TlsContext> context_;
};

}  // namespace kron::http
