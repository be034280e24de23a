// Settings that a run of one node has no use for.
#pragma once

#include "base/log.h"
#include "config/plan.h"

namespace pterun::app {

// Refuses such a flag, and warns of such a setting of a config file, which serves other runs as well.
// Errors: kUsage naming the flag; also for several methods and for a reference that knows no single nodes.
Result<void> check_node_settings(const config::Plan& plan, LogSink& log);

}  // namespace pterun::app
