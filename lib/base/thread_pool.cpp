// pthreadpool behind ThreadPool, and the count of physical cores inside the affinity mask.
#include "base/thread_pool.h"

#include <algorithm>
#include <fstream>
#include <sched.h>
#include <set>
#include <string>

#include <pthreadpool.h>

namespace pterun {

ThreadPool::ThreadPool(std::size_t threads) : threads_(std::max<std::size_t>(threads, 1)) {
  if (threads_ > 1) pool_ = pthreadpool_create(threads_);
  if (pool_ == nullptr) threads_ = 1;
}

ThreadPool::~ThreadPool() {
  if (pool_ != nullptr) pthreadpool_destroy(pool_);
}

void ThreadPool::run(std::size_t count, std::size_t grain, const void* context, Range range) {
  struct Task {
    const void* context;
    Range range;
  } task{context, range};
  pthreadpool_parallelize_1d_tile_1d(
      pool_,
      [](void* argument, std::size_t begin, std::size_t length) {
        const Task& t = *static_cast<const Task*>(argument);
        t.range(t.context, begin, begin + length);
      },
      &task, count, grain, 0);
}

std::size_t ThreadPool::default_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  std::set<std::string> cores;  // "package/core" of every allowed logical processor
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &set)) continue;
    const std::string topology = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    std::string package;
    std::string core;
    std::ifstream(topology + "physical_package_id") >> package;
    std::ifstream(topology + "core_id") >> core;
    cores.insert(core.empty() ? "cpu" + std::to_string(cpu) : package + "/" + core);
  }
  return std::max<std::size_t>(cores.size(), 1);
}

}  // namespace pterun
