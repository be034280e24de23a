// `pterun options check --self-test`: makes every kind of wrong and of inert option and sees whether it is caught, so
// that a clean result of the checks can be believed.
#pragma once

#include <string>
#include <vector>

#include "backend/backend_registry.h"
#include "base/error.h"

namespace pterun::app {

struct SelfTestCase {
  std::string what;      // "int outside the key's range"
  std::string given;     // "--load-option XnnpackBackend.workspace_sharing_mode=3"
  std::string expected;  // error code, or "accepted" for the controls
  std::string found;
  bool caught() const { return found == expected; }
};

// For the table of every registered backend: what flags and JSON can get wrong on both paths, and backends with that
// table that lie. Nothing is set in the registered backends.
std::vector<SelfTestCase> self_test_options(const backend::BackendRegistry& registry);

std::string self_test_text(const std::vector<SelfTestCase>& cases);
// Schema "pterun.selftest/1" (configs/schema/selftest.schema.json).
std::string self_test_json(const std::vector<SelfTestCase>& cases);

}  // namespace pterun::app
