// The profile of one method: time per instruction, and per node of the delegates that can tell.
#pragma once

#include <map>
#include <vector>

#include "report/bench_report.h"
#include "runtime/method.h"

namespace pterun::app {

// Of executions between attach() and collect_profile. Borrows the method, and stays where it is while attached.
class MethodProfile {
 public:
  explicit MethodProfile(runtime::Method& method) : method_(&method) {}
  void attach();

 private:
  friend std::vector<report::ProfileEntry> collect_profile(std::vector<MethodProfile>& profiles);
  std::vector<report::ProfileNode> nodes_of(const runtime::InstructionProfile& entry) const;

  runtime::Method* method_;
  std::vector<runtime::InstructionProfile> entries_;                        // by instruction
  std::map<std::size_t, std::vector<backend::NodeTime>> earlier_by_index_;  // of delegates, when it was attached
};

// Detaches the profiles and returns what was executed, by method and instruction.
std::vector<report::ProfileEntry> collect_profile(std::vector<MethodProfile>& profiles);

}  // namespace pterun::app
