// RunReport to JSON, section by section.
#include "report/formats/json.h"

#include "report/formats/bench.h"
#include "report/formats/inspect.h"
#include "report/formats/json_values.h"
#include "report/formats/wording.h"

namespace pterun::report {
namespace {

using nlohmann::json;

json value_json(const options::OptionValue& value) {
  if (const bool* flag = value.as_bool()) return *flag;
  if (const std::int32_t* integer = value.as_int()) return *integer;
  return *value.as_string();
}

json optional_value(const std::optional<options::OptionValue>& value) {
  return value ? value_json(*value) : json(nullptr);
}

json error_json(const std::optional<Error>& error) {
  if (!error) return nullptr;
  return {{"code", error_code_name(error->code)},
          {"message", error->message},
          {"hint", error->hint},
          {"where", error->where}};
}

json pairs_json(const std::vector<std::pair<std::string, std::string>>& pairs) {
  json object = json::object();
  for (const auto& [key, value] : pairs)
    object[key] = value;
  return object;
}

json json_or_null(const std::string& text) {
  json parsed = json::parse(text, nullptr, false);
  return parsed.is_discarded() ? json(nullptr) : parsed;
}

json manifest_json(const Manifest& manifest) {
  json files = json::array();
  for (const FileIdentity& file : manifest.files) {
    files.push_back({{"role", file.role}, {"path", file.path}, {"bytes", file.bytes}, {"sha256", file.sha256}});
  }
  const json config = json_or_null(manifest.resolved_config_json);
  json shadowed = json::array();
  for (const ShadowedSetting& setting : manifest.shadowed) {
    shadowed.push_back({{"setting", setting.setting},
                        {"value", json_or_null(setting.value_json)},
                        {"source", setting.source},
                        {"by", setting.shadowed_by}});
  }
  return {{"started_at", manifest.started_at},
          {"argv", manifest.argv},
          {"config", config},
          {"shadowed", shadowed},
          {"versions", pairs_json(manifest.versions)},
          {"host", pairs_json(manifest.host)},
          {"files", files},
          {"seed", manifest.seed},
          {"threads", manifest.threads},
          {"verification", manifest.verification}};
}

json option_json(const OptionReport& option) {
  json shadowed = json::array();
  for (const ShadowedRequest& request : option.shadowed) {
    shadowed.push_back({{"value", value_json(request.value)}, {"source", request.source}});
  }
  json receipts = json::array();
  for (const backend::Receipt& receipt : option.receipts) {
    receipts.push_back({{"method", receipt.method},
                        {"delegate", receipt.delegate},
                        {"type", options::option_type_name(receipt.value.type())},
                        {"value", value_json(receipt.value)},
                        {"at_ns", receipt.at_ns},
                        {"result", receipt.result}});
  }
  json effects = json::array();
  for (const EffectReport& effect : option.effects) {
    effects.push_back({{"method", effect.method},
                       {"delegate", effect.delegate},
                       {"value", value_json(effect.value)},
                       {"detail", effect.detail}});
  }
  return {{"backend", option.backend},
          {"key", option.key},
          {"path", options::option_path_name(option.path)},
          {"action", option.action},
          {"type", options::option_type_name(option.requested.type())},
          {"requested", value_json(option.requested)},
          {"source", option.source},
          {"shadowed", shadowed},
          {"original", optional_value(option.original)},
          {"stored", optional_value(option.stored)},
          {"stored_after", optional_value(option.stored_after)},
          {"restored", optional_value(option.restored)},
          {"receipts", receipts},
          {"effects", effects},
          {"evidence", evidence_name(option.evidence)}};
}

json load_json(const LoadReport& load) {
  json delegates = json::array();
  for (const DelegateReport& delegate : load.delegates) {
    json effects = json::array();
    for (const backend::OptionEffect& effect : delegate.effects) {
      effects.push_back({{"key", effect.key}, {"value", value_json(effect.value)}, {"detail", effect.detail}});
    }
    delegates.push_back({{"method", delegate.method},
                         {"index", delegate.index},
                         {"backend", delegate.backend},
                         {"payload_bytes", delegate.payload_bytes},
                         {"init_ns", delegate.init_ns},
                         {"calls", delegate.calls},
                         {"effects", effects},
                         {"metrics", delegate.metrics}});
  }
  return {{"program_ns", load.program_ns}, {"methods_ns", load.methods_ns}, {"delegates", delegates}};
}

json io_json(const std::vector<IoReport>& list) {
  json array = json::array();
  for (const IoReport& io : list) {
    json item = {{"kind", io.kind}, {"description", io.description}};
    if (io.kind == "tensor") {
      item["dtype"] = io.dtype;
      item["shape"] = io.shape;
    }
    if (!io.source.empty()) item["source"] = io.source;
    if (!io.sha256.empty()) item["sha256"] = io.sha256;
    array.push_back(std::move(item));
  }
  return array;
}

json methods_json(const std::vector<MethodReport>& methods) {
  json array = json::array();
  for (const MethodReport& method : methods) {
    array.push_back({{"name", method.name},
                     {"load_ns", method.load_ns},
                     {"inputs", io_json(method.inputs)},
                     {"outputs", io_json(method.outputs)},
                     {"planned_bytes", method.planned_bytes},
                     {"delegates", method.delegates},
                     {"delegate_calls", method.delegate_calls},
                     {"kernel_calls", method.kernel_calls}});
  }
  return array;
}

json outputs_json(const std::vector<OutputReport>& outputs) {
  json array = json::array();
  for (const OutputReport& output : outputs) {
    json item = {{"step", output.step},   {"method", output.method}, {"index", output.index},  {"name", output.name},
                 {"dtype", output.dtype}, {"shape", output.shape},   {"sha256", output.sha256}};
    item["stats"] = nullptr;
    if (output.stats) {
      const TensorStats& s = *output.stats;
      item["stats"] = {{"min", number_json(s.min)},
                       {"max", number_json(s.max)},
                       {"mean", number_json(s.mean)},
                       {"stddev", number_json(s.stddev)},
                       {"nan", s.nan},
                       {"inf", s.inf}};
    }
    if (!output.value.empty()) item["value"] = output.value;
    array.push_back(std::move(item));
  }
  return array;
}

json metrics_json(const compare::Metrics& m) {
  return {{"elements", m.elements},
          {"max_abs", number_json(m.max_abs)},
          {"mean_abs", number_json(m.mean_abs)},
          {"max_rel", number_json(m.max_rel)},
          {"mean_rel", number_json(m.mean_rel)},
          {"rmse", number_json(m.rmse)},
          {"cosine", number_json(m.cosine)},
          {"snr_db", number_json(m.snr_db)},
          {"max_ulp", m.max_ulp ? number_json(*m.max_ulp) : json(nullptr)},
          {"mismatches", m.mismatches},
          {"mismatch_fraction", number_json(m.mismatch_fraction)},
          {"nan_got", m.nan_got},
          {"nan_want", m.nan_want},
          {"inf_got", m.inf_got},
          {"inf_want", m.inf_want},
          {"nan_agree", m.nan_agree},
          {"inf_agree", m.inf_agree},
          {"argmax_agree", m.argmax_agree ? number_json(*m.argmax_agree) : json(nullptr)}};
}

json quanta_json(const std::optional<Quanta>& quanta) {
  if (!quanta) return nullptr;
  return {{"scale", number_json(quanta->scale)},
          {"max_abs", number_json(quanta->max_abs)},
          {"mean_abs", number_json(quanta->mean_abs)}};
}

json comparison_json(const ComparisonReport& report) {
  const compare::Comparison& c = report.comparison;
  json worst = json::array();
  for (const compare::WorstElement& element : c.worst) {
    worst.push_back({{"index", std::vector<std::int64_t>(element.index.begin(), element.index.end())},
                     {"got", number_json(element.got)},
                     {"want", number_json(element.want)},
                     {"abs_error", number_json(element.abs_error)}});
  }
  json bounds = json::array();
  for (const compare::Bound& bound : c.tolerance.bounds)
    bounds.push_back(bound.to_string());
  return {{"step", report.step},
          {"method", report.method},
          {"output", report.output},
          {"name", report.name},
          {"reference", report.reference},
          {"reference_kind", report.reference_kind},
          {"quanta", quanta_json(report.quanta)},
          {"pass", c.pass},
          {"reason", c.reason},
          {"metrics", metrics_json(c.metrics)},
          {"worst", worst},
          {"histogram", c.histogram},
          {"tolerance", {{"atol", c.tolerance.atol}, {"rtol", c.tolerance.rtol}, {"bounds", bounds}}}};
}

json arithmetic_json(const std::optional<DivergeArithmetic>& arithmetic) {
  if (!arithmetic) return nullptr;
  return {{"max_abs", number_json(arithmetic->max_abs)},
          {"allowed", number_json(arithmetic->allowed)},
          {"pass", arithmetic->pass}};
}

json diverge_node_json(const DivergeNode& node) {
  return {{"step", node.step},
          {"method", node.method},
          {"instruction", node.instruction},
          {"delegate", optional_json(node.delegate)},
          {"node", optional_json(node.node)},
          {"name", node.name},
          {"output", node.output},
          {"reference", node.reference},
          {"max_abs", number_json(node.max_abs)},
          {"largest", number_json(node.largest)},
          {"allowed", number_json(node.allowed)},
          {"pass", node.pass},
          {"arithmetic", arithmetic_json(node.arithmetic)}};
}

json mapping_json(const std::optional<DivergeMapping>& mapping) {
  if (!mapping) return nullptr;
  return {{"traced", mapping->traced},
          {"mapped", mapping->mapped},
          {"unmapped", mapping->unmapped},
          {"outputs_agree", mapping->outputs_agree},
          {"last_agreeing", mapping->last_agreeing},
          {"first_disagreeing", mapping->first_disagreeing},
          {"through", mapping->through},
          {"cause", diverge_cause_name(mapping->cause)},
          {"arithmetic", {{"compared", mapping->arithmetic_compared}, {"diverging", mapping->arithmetic_diverging}}}};
}

json node_json(const NodeReport& node) {
  return {{"method", node.method},
          {"instruction", node.instruction},
          {"delegate", node.delegate ? json(*node.delegate) : json(nullptr)},
          {"node", node.node ? json(*node.node) : json(nullptr)},
          {"name", node.name},
          {"inputs", io_json(node.inputs)}};
}

json diverge_json(const DivergeReport& diverge) {
  json worst = json::array();
  for (const DivergeNode& node : diverge.worst)
    worst.push_back(diverge_node_json(node));
  json skipped = json::array();
  for (const DivergeSkipped& item : diverge.skipped)
    skipped.push_back({{"name", item.name}, {"reason", item.reason}, {"count", item.count}});
  return {{"reference", diverge.reference},
          {"watching", {{"changed", diverge.watching_changed}, {"max_abs", number_json(diverge.watching_max_abs)}}},
          {"compared", diverge.compared},
          {"diverging", diverge.diverging},
          {"first", diverge.first ? diverge_node_json(*diverge.first) : json(nullptr)},
          {"inputs_file", diverge.inputs_file},
          {"command", diverge.command},
          {"worst", worst},
          {"skipped", skipped},
          {"mapping", mapping_json(diverge.mapping)}};
}

// Of a benchmark the samples are with its processes.
json timing_json(const Timing& timing, bool with_samples) {
  const TimingSummary s = steady_summary(timing);
  json samples = json::array();
  const std::size_t step = stride_for(timing.steady_ns.size());
  for (std::size_t i = 0; i < timing.steady_ns.size() && with_samples; i += step)
    samples.push_back(timing.steady_ns[i]);
  return {{"load_ns", timing.load_ns},
          {"first_ns", timing.first_ns},
          {"steady",
           {{"runs", s.runs},
            {"min_ns", s.min_ns},
            {"p50_ns", optional_json(s.p50_ns)},
            {"p90_ns", optional_json(s.p90_ns)},
            {"p99_ns", optional_json(s.p99_ns)},
            {"mean_ns", s.mean_ns},
            {"stddev_ns", s.stddev_ns},
            {"samples_ns", std::move(samples)},
            {"sample_stride", with_samples ? timing.sample_stride * step : 1}}}};
}

}  // namespace

std::string to_json(const RunReport& report) {
  json document = {{"schema", "pterun.report/1"},
                   {"kind", kind_name(report.kind)},
                   {"status", status_name(report.status)},
                   {"exit_code", report.exit_code},
                   {"error", error_json(report.error)},
                   {"manifest", manifest_json(report.manifest)},
                   {"load", load_json(report.load)},
                   {"methods", methods_json(report.methods)},
                   {"outputs", outputs_json(report.outputs)},
                   {"timing", timing_json(report.timing, !report.bench)},
                   {"memory", report.memory}};
  document["required_evidence"] =
      report.required_evidence ? json(evidence_name(*report.required_evidence)) : json(nullptr);
  document["options"] = json::array();
  for (const OptionReport& option : report.options)
    document["options"].push_back(option_json(option));
  document["comparisons"] = json::array();
  for (const ComparisonReport& comparison : report.comparisons) {
    document["comparisons"].push_back(comparison_json(comparison));
  }
  document["accuracy"] = json::array();
  for (const AccuracyReport& item : report.accuracy) {
    document["accuracy"].push_back({{"step", item.step},
                                    {"method", item.method},
                                    {"output", item.output},
                                    {"labels", item.labels},
                                    {"correct", item.correct},
                                    {"total", item.total}});
  }
  document["warnings"] = warnings_json(report.warnings);
  if (report.node) document["node"] = node_json(*report.node);
  if (report.diverge) document["diverge"] = diverge_json(*report.diverge);
  if (report.inspect) document["inspect"] = inspect_json(*report.inspect);
  if (report.bench) document["bench"] = bench_json(*report.bench);
  // Bytes that are not UTF-8 (file names) become U+FFFD instead of an exception.
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace pterun::report
