// Every index is visited once, on one thread or on several, and no range is larger than the grain.
#include "base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

using namespace pterun;

namespace {

// How often each index was visited, and the size of the largest range.
struct Visits {
  explicit Visits(std::size_t count) : times(count) {}
  std::vector<std::atomic<int>> times;
  std::atomic<std::size_t> largest{0};
  std::atomic<std::size_t> ranges{0};

  void visit(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      ++times[i];
    ++ranges;
    std::size_t known = largest;
    while (end - begin > known && !largest.compare_exchange_weak(known, end - begin)) {
    }
  }
  bool each_once() const {
    for (const std::atomic<int>& n : times) {
      if (n != 1) return false;
    }
    return true;
  }
};

}  // namespace

TEST_CASE("a loop visits every index once") {
  const std::size_t threads = GENERATE(1, 2, 4);
  const std::size_t count = GENERATE(1, 7, 64, 1000);
  const std::size_t grain = GENERATE(1, 8, 5000);
  CAPTURE(threads, count, grain);
  ThreadPool pool(threads);
  Visits visits(count);
  pool.parallel_for(count, grain, [&](std::size_t begin, std::size_t end) { visits.visit(begin, end); });
  CHECK(visits.each_once());
  if (threads > 1 && count > grain) {
    CHECK(visits.largest <= grain);
  } else {
    CHECK(visits.ranges == 1);
  }
}

TEST_CASE("a loop over nothing calls nothing") {
  ThreadPool pool(2);
  ThreadPool alone(1);
  Visits visits(0);
  pool.parallel_for(0, 1, [&](std::size_t begin, std::size_t end) { visits.visit(begin, end); });
  alone.parallel_for(0, 1, [&](std::size_t begin, std::size_t end) { visits.visit(begin, end); });
  CHECK(visits.ranges == 0);
}

TEST_CASE("what a loop wrote is there when it returns") {
  ThreadPool pool(2);
  std::vector<std::size_t> values(1 << 12);
  for (std::size_t round = 0; round < 50; ++round) {
    pool.parallel_for(values.size(), 64, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        values[i] = i + round;
    });
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      wrong += values[i] == i + round ? 0 : 1;
    REQUIRE(wrong == 0);
  }
}

TEST_CASE("one thread needs no pool, and none is made of nothing") {
  CHECK(ThreadPool(1).handle() == nullptr);
  CHECK(ThreadPool(0).threads() == 1);
  ThreadPool pool(3);
  CHECK(pool.threads() == 3);
  CHECK(pool.handle() != nullptr);
}

TEST_CASE("several callers may use one pool") {
  ThreadPool pool(2);
  Visits first(500);
  Visits second(500);
  std::thread other(
      [&] { pool.parallel_for(500, 10, [&](std::size_t begin, std::size_t end) { second.visit(begin, end); }); });
  pool.parallel_for(500, 10, [&](std::size_t begin, std::size_t end) { first.visit(begin, end); });
  other.join();
  CHECK(first.each_once());
  CHECK(second.each_once());
}

TEST_CASE("the default is at least one thread and at most the processors") {
  CHECK(ThreadPool::default_threads() >= 1);
  CHECK(ThreadPool::default_threads() <= std::max(1u, std::thread::hardware_concurrency()));
}
