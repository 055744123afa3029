#include "kron/env/system_error.h"

#include <cerrno>
#include <gtest/gtest.h>

namespace kron {
namespace {

TEST(SystemError, NamesTheCallThePathTheProblemAndTheCure) {
  const Error error = system_error("write", "/s/a.json", ENOSPC);
  EXPECT_EQ(error.message,
            "cannot write /s/a.json: No space left on device (ENOSPC); free some space on that file system");
}

TEST(SystemError, CodesTellCallersApartWhatTheyMustTellApart) {
  const struct {
    int error_number;
    Code code;
  } table[] = {{ENOENT, Code::not_found}, {EEXIST, Code::conflict}, {ENOTEMPTY, Code::conflict},
               {EACCES, Code::refused},   {EPERM, Code::refused},   {ELOOP, Code::refused},
               {EIO, Code::io},           {EROFS, Code::io},        {ENOSPC, Code::io},
               {EXDEV, Code::io},         {12345, Code::io}};
  for (const auto& row : table) EXPECT_EQ(system_error("x", "y", row.error_number).code, row.code) << row.error_number;
}

TEST(SystemError, UnknownNumbersAreStillAMessage) {
  EXPECT_EQ(system_error("x", "/y", 12345).message, "cannot x /y: unknown error; see the kernel log");
}

}  // namespace
}  // namespace kron
