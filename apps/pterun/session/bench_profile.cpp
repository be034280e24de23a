// Shares, and the difference between what delegates had counted before and after.
#include "pterun/session/bench_profile.h"

namespace pterun::app {
namespace {

double share_of(std::int64_t part_ns, std::int64_t whole_ns) {
  return whole_ns == 0 ? 0 : static_cast<double>(part_ns) / static_cast<double>(whole_ns);
}

}  // namespace

void MethodProfile::attach() {
  for (const runtime::DelegateInfo& info : method_->delegates())
    earlier_by_index_[info.index] = info.delegate->node_times();
  method_->attach_profile(&entries_);
}

// Nodes count for their delegate: they stand with the first of the instructions that call it.
std::vector<report::ProfileNode> MethodProfile::nodes_of(const runtime::InstructionProfile& entry) const {
  std::int64_t delegate_ns = 0;
  const runtime::InstructionProfile* first = nullptr;
  for (const runtime::InstructionProfile& other : entries_) {
    if (other.delegate != entry.delegate) continue;
    if (first == nullptr) first = &other;
    delegate_ns += other.total_ns;
  }
  std::vector<report::ProfileNode> nodes;
  if (!entry.delegate || first != &entry) return nodes;
  const auto now = method_->delegates()[*entry.delegate].delegate->node_times();
  const std::vector<backend::NodeTime>& earlier = earlier_by_index_.at(*entry.delegate);
  for (std::size_t i = 0; i < now.size(); ++i) {
    // Other nodes than before: the delegate was made anew for other shapes, and counted from there.
    const bool known = now.size() == earlier.size() && now[i].name == earlier[i].name;
    const std::int64_t total_ns = now[i].total_ns - (known ? earlier[i].total_ns : 0);
    nodes.push_back(
        {now[i].name, total_ns, now[i].calls - (known ? earlier[i].calls : 0), share_of(total_ns, delegate_ns)});
  }
  return nodes;
}

std::vector<report::ProfileEntry> collect_profile(std::vector<MethodProfile>& profiles) {
  std::int64_t sum_ns = 0;
  for (MethodProfile& profile : profiles) {
    profile.method_->attach_profile(nullptr);
    for (const runtime::InstructionProfile& entry : profile.entries_)
      sum_ns += entry.total_ns;
  }
  std::vector<report::ProfileEntry> list;
  for (const MethodProfile& profile : profiles) {
    for (std::size_t i = 0; i < profile.entries_.size(); ++i) {
      const runtime::InstructionProfile& entry = profile.entries_[i];
      if (entry.calls == 0) continue;
      list.push_back({profile.method_->name(), i, entry.name, entry.total_ns, entry.calls,
                      share_of(entry.total_ns, sum_ns), profile.nodes_of(entry)});
    }
  }
  return list;
}

}  // namespace pterun::app
