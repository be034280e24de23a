// The sample reports, and golden files.
#include "samples.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>

#include <catch2/catch_test_macros.hpp>

namespace pterun::report {
namespace {

OptionReport load_option() {
  OptionReport option;
  option.backend = "XnnpackBackend";
  option.key = "workspace_sharing_mode";
  option.path = options::OptionPath::kLoad;
  option.requested = options::OptionValue(1);
  option.source = "--load-option #1";
  option.shadowed.push_back(
      {options::OptionValue(2), "m.json:/load_options/XnnpackBackend/workspace_sharing_mode (line 4)"});
  option.receipts.push_back(
      {"XnnpackBackend", "forward", 0, "workspace_sharing_mode", options::OptionValue(1), 1200, "Ok"});
  option.effects.push_back(
      {"forward", 0, options::OptionValue(1), "per_model: workspace 1, 640 bytes, used by 1 delegate"});
  option.evidence = Evidence::kEffective;
  return option;
}

OptionReport process_wide_option() {
  OptionReport option;
  option.backend = "XnnpackBackend";
  option.key = "weight_cache_enabled";
  option.requested = options::OptionValue(true);
  option.source = "--global-option #1";
  option.original = options::OptionValue(false);
  option.stored = options::OptionValue(true);
  option.stored_after = options::OptionValue(true);
  option.evidence = Evidence::kStored;
  return option;
}

}  // namespace

RunReport sample_run() {
  RunReport report;
  report.status = Status::kFail;
  report.exit_code = 1;
  report.error = make_error(ErrorCode::kMismatch, "output 0 of 'forward': 1 of 2 elements are outside");
  report.manifest.started_at = "2026-12-02T09:30:00Z";
  report.manifest.argv = {"pterun", "run", "m.pte"};
  report.manifest.versions = {{"pterun", "0.1.0"}};
  report.manifest.files = {{"model", "m.pte", 2048, std::string(64, 'a')}};
  report.manifest.threads = 2;
  report.manifest.verification = "full";
  report.options = {process_wide_option(), load_option()};
  report.required_evidence = Evidence::kDelivered;
  report.load = {1000, 2000, {{"forward", 0, "XnnpackBackend", 1024, 1500, 1, {}, {{"packed_bytes", 256}}}}};
  MethodReport method;
  method.name = "forward";
  method.load_ns = 2000;
  method.inputs = {{"tensor", "float32", {1, 2}, "float32[1, 2]", "uniform(0,1), seed 0", ""}};
  method.outputs = {{"tensor", "float32", {1, 2}, "float32[1, 2]", "", ""}};
  method.planned_bytes = {64};
  method.delegates = 1;
  method.delegate_calls = 1;
  report.methods = {method};
  OutputReport output;
  output.method = "forward";
  output.name = "output_0";
  output.dtype = "float32";
  output.shape = {1, 2};
  output.sha256 = std::string(64, 'b');
  output.stats = TensorStats{-1, 2.5, 0.75, 1.75, 0, 1};
  report.outputs = {output};
  ComparisonReport comparison;
  comparison.method = "forward";
  comparison.reference = "m.expected.npz";
  comparison.comparison.reason = "1 of 2 elements are outside atol 0.0001 + rtol 0.0001 x |want|";
  comparison.comparison.metrics.elements = 2;
  comparison.comparison.metrics.max_abs = 0.5;
  comparison.comparison.metrics.max_rel = std::numeric_limits<double>::infinity();
  comparison.comparison.metrics.max_ulp = 7;
  comparison.comparison.metrics.mismatches = 1;
  comparison.comparison.metrics.mismatch_fraction = 0.5;
  comparison.comparison.worst = {{Shape{0, 1}, 2.5, std::numeric_limits<double>::quiet_NaN(), 0.5}};
  comparison.comparison.tolerance = {1e-4, 1e-4, {}};
  comparison.comparison.histogram.assign(compare::kHistogramBins, 0);
  comparison.comparison.histogram[0] = 1;
  comparison.comparison.histogram[16] = 1;
  comparison.reference_kind = "converted_graph";
  comparison.quanta = Quanta{0.25, 2, 1.5};
  ComparisonReport passed;
  passed.method = "forward";
  passed.output = 1;
  passed.reference = "m.expected.npz";
  passed.reference_kind = "file";
  passed.comparison.pass = true;
  passed.comparison.metrics.elements = 1000;
  passed.comparison.metrics.max_abs = 2.4e-7;
  passed.comparison.metrics.mean_abs = 3e-8;
  passed.comparison.metrics.rmse = 4.5e-8;
  passed.comparison.metrics.max_rel = 1e-6;
  passed.comparison.metrics.snr_db = 138.5;
  passed.comparison.metrics.argmax_agree = 1;
  passed.comparison.worst = {{Shape{7, 3}, 1.25, 1.25000024, 2.4e-7}};
  passed.comparison.tolerance = {1e-4, 1e-4, {}};
  passed.comparison.histogram = {310, 0, 0, 0, 0, 0, 0, 0, 12, 170, 508};
  passed.comparison.histogram.resize(compare::kHistogramBins);
  report.comparisons = {comparison, passed};
  report.accuracy = {{0, "forward", 0, "labels.npy", 9, 10}};
  report.timing.load_ns = 3000;
  report.timing.first_ns = 500;
  report.timing.steady_ns = {100, 110, 120};
  report.memory = {{"peak_rss_bytes", 1048576}, {"planned_bytes", 64}};
  report.warnings = {{"no_delegate", "method 'forward' runs without any delegate", "export it for XNNPACK"}};
  return report;
}

RunReport sample_compare() {
  RunReport report = sample_run();
  report.kind = Kind::kCompare;
  report.manifest.argv = {"pterun", "compare", "a.npz", "b.npz"};
  report.manifest.files = {{"outputs", "a.npz", 512, std::string(64, 'd')},
                           {"reference", "b.npz", 520, std::string(64, 'e')}};
  report.manifest.threads = 0;
  report.manifest.verification = "";
  report.options.clear();
  report.required_evidence.reset();
  report.load = {};
  report.methods.clear();
  report.accuracy.clear();
  report.timing = {};
  report.memory.clear();
  report.warnings.clear();
  report.outputs.front().method = "";
  report.outputs.front().name = "logits";
  report.comparisons.front().name = "logits";
  report.comparisons.back().name = "state|1";
  ComparisonReport missing;
  missing.name = "extra";
  missing.output = 2;
  missing.comparison.reason = "B has no such tensor";
  for (double* value : {&missing.comparison.metrics.max_abs, &missing.comparison.metrics.cosine})
    *value = std::numeric_limits<double>::quiet_NaN();
  report.comparisons.push_back(missing);
  for (ComparisonReport& item : report.comparisons) {
    item.method = "";
    item.reference = "b.npz";
    item.reference_kind = "file";
    item.quanta.reset();
  }
  return report;
}

RunReport sample_options() {
  RunReport report;
  report.kind = Kind::kOptions;
  report.manifest.started_at = "2026-12-02T09:30:00Z";
  report.manifest.argv = {"pterun", "options", "check"};
  report.manifest.versions = {{"pterun", "0.1.0"}};
  OptionReport process_wide = process_wide_option();
  process_wide.restored = process_wide.original;
  OptionReport load = load_option();
  load.receipts.clear();
  load.effects.clear();
  load.evidence = Evidence::kAccepted;
  report.options = {process_wide, load};
  return report;
}

RunReport sample_error() {
  RunReport report;
  report.status = Status::kError;
  report.error = make_error(ErrorCode::kUnknownOption, "XnnpackBackend.workspace_mode: no such option | expected <one>")
                     .at("option", "XnnpackBackend.workspace_mode")
                     .at("source", "--load-option #1")
                     .with_hint("did you mean workspace_sharing_mode?");
  report.exit_code = 2;
  report.manifest.started_at = "2026-12-02T09:30:00Z";
  report.manifest.argv = {"pterun", "run", "m.pte", "--load-option", "XnnpackBackend.workspace_mode=1"};
  report.manifest.versions = {{"pterun", "0.1.0"}};
  report.manifest.host = {{"system", "Linux"}};
  return report;
}

std::vector<BackendOptions> sample_option_list() {
  ListedOption mode;
  mode.spec.key = "workspace_sharing_mode";
  mode.spec.type = options::OptionType::kInt;
  mode.spec.process_wide = true;
  mode.spec.load = true;
  mode.spec.default_value = options::OptionValue(2);
  mode.spec.min = 0;
  mode.spec.max = 2;
  mode.spec.names = {{"disabled", 0}, {"per_model", 1}, {"global", 2}};
  mode.spec.doc = "Who shares workspaces.";
  mode.current = options::OptionValue(1);
  ListedOption path;
  path.spec.key = "packed_cache_path";
  path.spec.load = true;
  path.spec.default_value = options::OptionValue(std::string());
  path.spec.requires_true = "weight_cache_enabled";
  ListedOption save;
  save.spec.key = "save_weight_cache_on_disk";
  save.spec.type = options::OptionType::kBool;
  save.spec.process_wide = true;
  save.spec.action = true;
  save.spec.doc = "Saves \"live\" caches.";
  return {{"XnnpackBackend", true, {mode, path, save}}, {"AbsentBackend", false, {}}};
}

void check_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(PTERUN_TEST_DATA) + "/../golden/" + name;
  if (std::getenv("PTERUN_RENEW_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << text;
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file);
  CHECK(text == std::string(std::istreambuf_iterator<char>(file), {}));
}

}  // namespace pterun::report
