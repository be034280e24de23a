// The process's thread pool: one pthreadpool, shared by XNNPACK and pterun's own operators.
// Created in main, passed down. Calls into it come from one thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

struct pthreadpool;

namespace pterun {

class ThreadPool {
 public:
  // threads >= 1. With one thread no pool is made and everything runs on the caller.
  explicit ThreadPool(std::size_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  std::size_t threads() const { return threads_; }
  // For XNNPACK; null with one thread, which XNNPACK takes as "on the caller".
  pthreadpool* handle() const { return pool_; }

  // Calls body(begin, end) over disjoint ranges that cover [0, count), possibly on several threads at once, and
  // returns when all are done. Ranges hold at most `grain` items (grain >= 1); with one thread, or when count <=
  // grain, there is one range.
  template <typename Body>
  void parallel_for(std::size_t count, std::size_t grain, const Body& body) {
    if (pool_ == nullptr || count <= grain) {
      if (count != 0) body(std::size_t{0}, count);
      return;
    }
    run(count, grain, &body, [](const void* context, std::size_t begin, std::size_t end) {
      (*static_cast<const Body*>(context))(begin, end);
    });
  }

  // The number of physical cores that this process may run on (its affinity mask), at least 1.
  static std::size_t default_threads();

 private:
  using Range = void (*)(const void* context, std::size_t begin, std::size_t end);
  void run(std::size_t count, std::size_t grain, const void* context, Range range);

  std::size_t threads_;
  pthreadpool* pool_ = nullptr;
};

}  // namespace pterun
