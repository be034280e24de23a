// Prints a plan.
#include "pterun/session/print_plan.h"

#include <fmt/format.h>

#include "base/log.h"
#include "config/print_config.h"
#include "pterun/catalogue.h"
#include "pterun/session/option_session.h"

namespace pterun::app {

Result<int> print_plan(const config::Plan& plan, config::Command command) {
  PTERUN_ASSIGN(backend::BackendRegistry registry, make_backend_registry());
  CollectingLog log;
  PTERUN_ASSIGN(const OptionSession session, OptionSession::check(plan.options, registry, log));
  fmt::print("{}", config::annotated_config(plan, command, session.checked()));
  return 0;
}

}  // namespace pterun::app
