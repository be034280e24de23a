// Plan to manifest.
#include "pterun/session/plan_manifest.h"

#include "config/print_config.h"

namespace pterun::app {

void describe_plan(const config::Plan& plan, const options::CheckedOptions* options, report::Manifest& manifest) {
  manifest.resolved_config_json = options == nullptr ? plan.resolved_json : config::resolved_config(plan, *options);
  manifest.seed = *plan.seed;
  for (const config::Shadowed& setting : plan.shadowed) {
    manifest.shadowed.push_back(
        {setting.name, setting.value, setting.origin.describe(), setting.shadowed_by.describe()});
  }
}

}  // namespace pterun::app
