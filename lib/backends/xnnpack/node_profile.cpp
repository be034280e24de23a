// Reading XNNPACK's profile: names as texts one behind the other, each with a NUL, and a number for each.
#include "backends/xnnpack/node_profile.h"

#include <cstdint>
#include <string>
#include <utility>

namespace pterun::backends::xnn {
namespace {

// What XNNPACK counts in: cmake/deps/xnnpack_profile_clock.h.
#ifdef PTERUN_SYSTEM_XNNPACK
constexpr std::int64_t kUnitNs = 1000;
#else
constexpr std::int64_t kUnitNs = 1;
#endif

std::vector<backend::NodeTime> read_nodes(xnn_runtime_t runtime) {
  std::size_t size = 0;
  if (xnn_get_runtime_profiling_info(runtime, xnn_profile_info_operator_name, 0, nullptr, &size) !=
      xnn_status_out_of_memory) {
    return {};
  }
  std::string names(size, '\0');
  if (xnn_get_runtime_profiling_info(runtime, xnn_profile_info_operator_name, size, names.data(), &size) !=
      xnn_status_success) {
    return {};
  }
  std::vector<backend::NodeTime> nodes;
  for (std::size_t begin = 0; begin < names.size();) {
    const std::size_t end = names.find('\0', begin);
    if (end == std::string::npos) break;
    nodes.push_back({names.substr(begin, end - begin), 0, 0});
    begin = end + 1;
  }
  return nodes;
}

}  // namespace

void NodeProfile::begin(xnn_runtime_t runtime) {
  std::vector<backend::NodeTime> nodes = read_nodes(runtime);
  bool same = nodes.size() == times_.size();
  for (std::size_t i = 0; same && i < nodes.size(); ++i)
    same = nodes[i].name == times_[i].name;
  if (!same) times_ = std::move(nodes);
  last_.resize(times_.size());
}

void NodeProfile::add(xnn_runtime_t runtime) {
  std::size_t size = 0;
  const std::size_t bytes = last_.size() * sizeof(std::uint64_t);
  if (times_.empty() || xnn_get_runtime_profiling_info(runtime, xnn_profile_info_operator_timing, bytes, last_.data(),
                                                       &size) != xnn_status_success) {
    return;
  }
  for (std::size_t i = 0; i < times_.size(); ++i) {
    times_[i].total_ns += static_cast<std::int64_t>(last_[i]) * kUnitNs;
    ++times_[i].calls;
  }
}

}  // namespace pterun::backends::xnn
