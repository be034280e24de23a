// The command that runs one diverging node again.
#pragma once

#include <string>

#include "config/plan.h"
#include "report/run_report.h"

namespace pterun::app {

// `diverge` has a first node, whose inputs were saved; `manifest` has the command line that found it. Quoted for a
// shell. The node's allowance goes along as a bound, so that the verdict is the same. Where several results together
// stand for one of a .pt2's, no single node shows the divergence: it is the whole run.
std::string node_command(const report::Manifest& manifest, const config::Plan& plan,
                         const report::DivergeReport& diverge);

}  // namespace pterun::app
