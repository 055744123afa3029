#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "kron/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace kron::history {

// A prepared statement: bind its parameters in their order, then step. What goes wrong on the way is told by step(). Of
// the same thread as its Database, which outlives it.
class Statement {
 public:
  Statement(sqlite3* database, std::string_view sql);

  Statement& bind(std::int64_t value);
  Statement& bind(std::string_view value);  // lives until the next step() that gives no row
  Statement& bind_null();

  // True: there is a row. After the last row, or a failure, it is as new and can be bound again.
  Result<bool> step();

  std::int64_t integer(int column) const;
  std::string_view text(int column) const;  // until the next step

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };

  void start_over();

  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bound_ = 0;
  int code_ = 0;  // the first failure of a bind
};

// SQLite, as far as the index needs it. Errors: invalid when the file is no database or is damaged; io for the rest.
class Database {
 public:
  static Result<Database> open(const std::string& path);

  Status run(const char* sql);
  Statement prepare(std::string_view sql) { return {database_.get(), sql}; }

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };

  explicit Database(sqlite3* database) : database_(database) {}

  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace kron::history
