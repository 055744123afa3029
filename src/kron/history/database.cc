#include "kron/history/database.h"

#include <sqlite3.h>

namespace kron::history {
namespace {

// The primary code is the low byte of an extended one.
bool is_damage(int code) { return (code & 0xFF) == SQLITE_CORRUPT || (code & 0xFF) == SQLITE_NOTADB; }

Error error_of(sqlite3* database, int code) {
  const char* path = sqlite3_db_filename(database, "main");
  std::string message = "cannot use " + std::string(path == nullptr ? "the index" : path) + ": ";
  message += sqlite3_errstr(code);
  message += is_damage(code) ? "; it will be made again from the journal" : "; look at the disk and its free space";
  return {is_damage(code) ? Code::invalid : Code::io, std::move(message)};
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Statement::Statement(sqlite3* database, std::string_view sql) : database_(database) {
  sqlite3_stmt* statement = nullptr;
  code_ = sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  statement_.reset(statement);
}

Statement& Statement::bind(std::int64_t value) {
  if (code_ == SQLITE_OK) code_ = sqlite3_bind_int64(statement_.get(), ++bound_, value);
  return *this;
}

Statement& Statement::bind(std::string_view value) {
  if (code_ == SQLITE_OK) {
    code_ = sqlite3_bind_text64(statement_.get(), ++bound_, value.data(), value.size(), SQLITE_STATIC, SQLITE_UTF8);
  }
  return *this;
}

Statement& Statement::bind_null() {
  if (code_ == SQLITE_OK) code_ = sqlite3_bind_null(statement_.get(), ++bound_);
  return *this;
}

Result<bool> Statement::step() {
  const int code = code_ == SQLITE_OK ? sqlite3_step(statement_.get()) : code_;
  if (code == SQLITE_ROW) return true;
  start_over();
  if (code == SQLITE_DONE) return false;
  return fail(error_of(database_, code));
}

void Statement::start_over() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
  bound_ = 0;
  code_ = SQLITE_OK;
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }

std::string_view Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return text == nullptr ? std::string_view() : std::string_view(text, static_cast<std::size_t>(size));
}

Result<Database> Database::open(const std::string& path) {
  sqlite3* handle = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  Database database(handle);
  if (code != SQLITE_OK) {
    return fail(Code::io, "cannot open " + path + ": " + sqlite3_errstr(code) + "; look at its permissions");
  }
  sqlite3_extended_result_codes(handle, 1);
  return database;
}

Status Database::run(const char* sql) {
  const int code = sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr);
  if (code == SQLITE_OK) return {};
  return fail(error_of(database_.get(), code));
}

}  // namespace kron::history
