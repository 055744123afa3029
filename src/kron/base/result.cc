#include "kron/base/result.h"

#include <array>

namespace kron {
namespace {

struct Row {
  Code code;
  std::string_view name;
  int exit_status;
  int http_status;
};

constexpr std::array kTable{
    Row{Code::invalid, "invalid", 1, 400},
    Row{Code::not_found, "not_found", 1, 404},
    Row{Code::unreadable, "unreadable", 2, 400},
    Row{Code::unreachable, "unreachable", 3, 503},
    Row{Code::refused, "refused", 4, 403},
    Row{Code::conflict, "conflict", 4, 409},
    Row{Code::io, "io", 2, 500},
    Row{Code::internal, "internal", 70, 500},
};

const Row& row_of(Code code) {
  for (const Row& row : kTable) {
    if (row.code == code) return row;
  }
  return kTable.back();
}

}  // namespace

std::string_view name_of(Code code) { return row_of(code).name; }
int exit_status(Code code) { return row_of(code).exit_status; }
int http_status(Code code) { return row_of(code).http_status; }

}  // namespace kron
