#pragma once

#include <algorithm>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

namespace kron {

// How many parts of `count` things to do at the same time, when `worth` of them are worth a thread.
inline std::size_t parts_of(std::size_t count, std::size_t worth) {
  constexpr std::size_t kMost = 8;
  return std::clamp<std::size_t>(count / worth, 1,
                                 std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMost));
}

// Does work(0) … work(parts - 1), each on a thread of its own, and returns when all are done. Where there are no more
// threads to be had, one after the other.
template <class Work>
void in_parallel(std::size_t parts, const Work& work) {
  std::vector<std::jthread> threads;
  std::size_t next = 1;
  try {
    for (; next < parts; ++next) threads.emplace_back([&work, next] { work(next); });
  } catch (const std::system_error&) {
    for (; next < parts; ++next) work(next);
  }
  work(0);
}

}  // namespace kron
