#include "kron/scheduler/write_thread.h"

#include <gtest/gtest.h>
#include <set>
#include <system_error>

namespace kron {
namespace {

TEST(WriteThread, DoesItsWorkInOneOtherThread) {
  std::set<std::thread::id> threads;
  WriteThread writer;
  for (int i = 0; i < 3; ++i) {
    writer.begin([&] { threads.insert(std::this_thread::get_id()); });
    writer.finish();
  }
  EXPECT_EQ(threads.size(), 1U);
  EXPECT_FALSE(threads.contains(std::this_thread::get_id()));
}

TEST(WriteThread, WhatIsUnderWayIsFinishedFirst) {
  int done = 0;
  {
    WriteThread writer;
    writer.begin([&] { ++done; });
    writer.begin([&] { done *= 10; });
  }
  EXPECT_EQ(done, 10);
}

TEST(WriteThread, WithoutAThreadTheOwnerDoesTheWork) {
  bool is_to_be_had = false;
  WriteThread writer([&](auto body) {
    if (!is_to_be_had) throw std::system_error(EAGAIN, std::generic_category());
    return WriteThread::make_thread(std::move(body));
  });
  std::thread::id who;
  writer.begin([&] { who = std::this_thread::get_id(); });
  EXPECT_EQ(who, std::this_thread::get_id()) << "and it is done when begin() returns";
  EXPECT_FALSE(writer.has_thread());
  is_to_be_had = true;
  writer.begin([&] { who = std::this_thread::get_id(); });
  writer.finish();
  EXPECT_NE(who, std::this_thread::get_id()) << "it asks again";
}

}  // namespace
}  // namespace kron
