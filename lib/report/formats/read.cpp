// Reading a report, section by section, in the order of json.cpp.
#include "report/formats/read.h"

#include <array>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/utf8.h"

namespace pterun::report {
namespace {

using nlohmann::json;

template <typename Enum, std::size_t N>
Enum choice(const JsonView& value, const std::array<std::pair<std::string_view, Enum>, N>& names) {
  std::string expected = "one of";
  for (const auto& [name, number] : names) {
    if (value.value() == name) return number;
    expected += " " + std::string(name);
  }
  value.fail_with(expected);
}

Kind read_kind(const JsonView& value) {
  static constexpr std::array<std::pair<std::string_view, Kind>, 5> kNames = {{{"run", Kind::kRun},
                                                                               {"bench", Kind::kBench},
                                                                               {"inspect", Kind::kInspect},
                                                                               {"options", Kind::kOptions},
                                                                               {"compare", Kind::kCompare}}};
  return choice(value, kNames);
}

Status read_status(const JsonView& value) {
  static constexpr std::array<std::pair<std::string_view, Status>, 3> kNames = {
      {{"pass", Status::kPass}, {"fail", Status::kFail}, {"error", Status::kError}}};
  return choice(value, kNames);
}

options::OptionPath read_path(const JsonView& value) {
  static constexpr std::array<std::pair<std::string_view, options::OptionPath>, 2> kNames = {
      {{"process-wide", options::OptionPath::kGlobal}, {"load", options::OptionPath::kLoad}}};
  return choice(value, kNames);
}

// The code of a name; a name that this pterun does not know is a bug of the one that wrote it.
ErrorCode read_code(const std::string& name) {
  for (std::uint16_t number = 1; number <= static_cast<std::uint16_t>(ErrorCode::kInterrupted); ++number) {
    if (error_code_name(static_cast<ErrorCode>(number)) == name) return static_cast<ErrorCode>(number);
  }
  return ErrorCode::kBug;
}

Error read_error(const JsonView& value, int exit_code) {
  std::string code;
  value.at("code").get(code);
  Error error = make_error(read_code(code), "");
  if (exit_code > 0) error.blame = static_cast<Blame>(exit_code);
  value.read("message", error.message);
  value.read("hint", error.hint);
  value.read("where", error.where);
  return error;
}

std::vector<std::pair<std::string, std::string>> read_pairs(const JsonView& object, std::string_view key) {
  std::map<std::string, std::string> pairs;
  object.read(key, pairs);
  return {pairs.begin(), pairs.end()};
}

Manifest read_manifest(const JsonView& value) {
  Manifest manifest;
  value.read("started_at", manifest.started_at);
  value.read("argv", manifest.argv);
  if (const auto config = value.find("config")) manifest.resolved_config_json = config->value().dump();
  for (const JsonView& item : value.items_of("shadowed")) {
    ShadowedSetting& setting = manifest.shadowed.emplace_back();
    item.read("setting", setting.setting);
    setting.value_json = item.at("value").value().dump();
    item.read("source", setting.source);
    item.read("by", setting.shadowed_by);
  }
  manifest.versions = read_pairs(value, "versions");
  manifest.host = read_pairs(value, "host");
  for (const JsonView& item : value.items_of("files")) {
    FileIdentity& file = manifest.files.emplace_back();
    item.read("role", file.role);
    item.at("path").get(file.path);
    item.read("bytes", file.bytes);
    item.read("sha256", file.sha256);
  }
  value.read("seed", manifest.seed);
  value.read("threads", manifest.threads);
  value.read("verification", manifest.verification);
  return manifest;
}

options::OptionValue read_option_value(const JsonView& value) {
  if (value.value().is_boolean()) return options::OptionValue(value.value().get<bool>());
  if (value.value().is_string()) return options::OptionValue(value.value().get<std::string>());
  if (!value.value().is_number_integer()) value.fail_with("a bool, an integer or a string");
  int integer = 0;
  value.get(integer);
  return options::OptionValue(static_cast<std::int32_t>(integer));
}

std::optional<options::OptionValue> find_option_value(const JsonView& object, std::string_view key) {
  const auto member = object.find(key);
  if (!member) return std::nullopt;
  return read_option_value(*member);
}

OptionReport read_option(const JsonView& value) {
  OptionReport option;
  value.at("backend").get(option.backend);
  value.at("key").get(option.key);
  option.path = read_path(value.at("path"));
  value.read("action", option.action);
  option.requested = read_option_value(value.at("requested"));
  value.read("source", option.source);
  for (const JsonView& item : value.items_of("shadowed")) {
    ShadowedRequest request{read_option_value(item.at("value")), ""};
    item.read("source", request.source);
    option.shadowed.push_back(std::move(request));
  }
  option.original = find_option_value(value, "original");
  option.stored = find_option_value(value, "stored");
  option.stored_after = find_option_value(value, "stored_after");
  option.restored = find_option_value(value, "restored");
  for (const JsonView& item : value.items_of("receipts")) {
    backend::Receipt receipt{option.backend, "", 0, option.key, read_option_value(item.at("value")), 0, ""};
    item.read("method", receipt.method);
    item.read("delegate", receipt.delegate);
    item.read("at_ns", receipt.at_ns);
    item.read("result", receipt.result);
    option.receipts.push_back(std::move(receipt));
  }
  for (const JsonView& item : value.items_of("effects")) {
    EffectReport effect{"", 0, read_option_value(item.at("value")), ""};
    item.read("method", effect.method);
    item.read("delegate", effect.delegate);
    item.read("detail", effect.detail);
    option.effects.push_back(std::move(effect));
  }
  option.evidence = read_evidence(value.at("evidence"));
  return option;
}

LoadReport read_load(const JsonView& value) {
  LoadReport load;
  value.read("program_ns", load.program_ns);
  value.read("methods_ns", load.methods_ns);
  for (const JsonView& item : value.items_of("delegates")) {
    DelegateReport& delegate = load.delegates.emplace_back();
    item.read("method", delegate.method);
    item.read("index", delegate.index);
    item.read("backend", delegate.backend);
    item.read("payload_bytes", delegate.payload_bytes);
    item.read("init_ns", delegate.init_ns);
    item.read("calls", delegate.calls);
    for (const JsonView& effect : item.items_of("effects")) {
      backend::OptionEffect done{"", read_option_value(effect.at("value")), ""};
      effect.read("key", done.key);
      effect.read("detail", done.detail);
      delegate.effects.push_back(std::move(done));
    }
    item.read("metrics", delegate.metrics);
  }
  return load;
}

std::vector<IoReport> read_io(const JsonView& object, std::string_view key) {
  std::vector<IoReport> list;
  for (const JsonView& item : object.items_of(key)) {
    IoReport& io = list.emplace_back();
    item.read("kind", io.kind);
    item.read("description", io.description);
    item.read("dtype", io.dtype);
    item.read("shape", io.shape);
    item.read("source", io.source);
    item.read("sha256", io.sha256);
  }
  return list;
}

MethodReport read_method(const JsonView& value) {
  MethodReport method;
  value.at("name").get(method.name);
  value.read("load_ns", method.load_ns);
  method.inputs = read_io(value, "inputs");
  method.outputs = read_io(value, "outputs");
  value.read("planned_bytes", method.planned_bytes);
  value.read("delegates", method.delegates);
  value.read("delegate_calls", method.delegate_calls);
  value.read("kernel_calls", method.kernel_calls);
  return method;
}

OutputReport read_output(const JsonView& value) {
  OutputReport output;
  value.read("step", output.step);
  value.read("method", output.method);
  value.at("index").get(output.index);
  value.read("name", output.name);
  value.read("dtype", output.dtype);
  value.read("shape", output.shape);
  value.read("sha256", output.sha256);
  value.read("value", output.value);
  if (const auto stats = value.find("stats")) {
    TensorStats& s = output.stats.emplace();
    stats->read("min", s.min);
    stats->read("max", s.max);
    stats->read("mean", s.mean);
    stats->read("stddev", s.stddev);
    stats->read("nan", s.nan);
    stats->read("inf", s.inf);
  }
  return output;
}

compare::Metrics read_metrics(const JsonView& value) {
  compare::Metrics m;
  value.read("elements", m.elements);
  value.read("max_abs", m.max_abs);
  value.read("mean_abs", m.mean_abs);
  value.read("max_rel", m.max_rel);
  value.read("mean_rel", m.mean_rel);
  value.read("rmse", m.rmse);
  value.read("cosine", m.cosine);
  value.read("snr_db", m.snr_db);
  value.read("max_ulp", m.max_ulp);
  value.read("mismatches", m.mismatches);
  value.read("mismatch_fraction", m.mismatch_fraction);
  value.read("nan_got", m.nan_got);
  value.read("nan_want", m.nan_want);
  value.read("inf_got", m.inf_got);
  value.read("inf_want", m.inf_want);
  value.read("nan_agree", m.nan_agree);
  value.read("inf_agree", m.inf_agree);
  value.read("argmax_agree", m.argmax_agree);
  return m;
}

compare::Tolerance read_tolerance(const JsonView& value) {
  compare::Tolerance tolerance;
  value.read("atol", tolerance.atol);
  value.read("rtol", tolerance.rtol);
  for (const JsonView& item : value.items_of("bounds")) {
    std::string text;
    item.get(text);
    auto bounds = compare::parse_bounds(text);
    if (!bounds) item.fail_with("a bound on a metric");
    std::ranges::move(*bounds, std::back_inserter(tolerance.bounds));
  }
  return tolerance;
}

ComparisonReport read_comparison_of_output(const JsonView& value) {
  ComparisonReport report;
  value.read("step", report.step);
  value.read("method", report.method);
  value.at("output").get(report.output);
  value.read("name", report.name);
  value.read("reference", report.reference);
  compare::Comparison& c = report.comparison;
  value.at("pass").get(c.pass);
  value.read("reason", c.reason);
  if (const auto metrics = value.find("metrics")) c.metrics = read_metrics(*metrics);
  for (const JsonView& item : value.items_of("worst")) {
    compare::WorstElement& element = c.worst.emplace_back();
    std::vector<std::int64_t> index;
    item.read("index", index);
    element.index = Shape(std::span<const std::int64_t>(index));
    item.read("got", element.got);
    item.read("want", element.want);
    item.read("abs_error", element.abs_error);
  }
  value.read("histogram", c.histogram);
  if (const auto tolerance = value.find("tolerance")) c.tolerance = read_tolerance(*tolerance);
  value.read("reference_kind", report.reference_kind);
  if (const auto quanta = value.find("quanta")) {
    Quanta& q = report.quanta.emplace();
    quanta->read("scale", q.scale);
    quanta->read("max_abs", q.max_abs);
    quanta->read("mean_abs", q.mean_abs);
  }
  return report;
}

DivergeNode read_diverge_node(const JsonView& value) {
  DivergeNode node;
  value.read("step", node.step);
  value.read("method", node.method);
  value.read("instruction", node.instruction);
  value.read("delegate", node.delegate);
  value.read("node", node.node);
  value.at("name").get(node.name);
  value.read("output", node.output);
  value.read("reference", node.reference);
  value.read("max_abs", node.max_abs);
  value.read("largest", node.largest);
  value.read("allowed", node.allowed);
  value.read("pass", node.pass);
  if (const auto arithmetic = value.find("arithmetic")) {
    DivergeArithmetic& target = node.arithmetic.emplace();
    arithmetic->read("max_abs", target.max_abs);
    arithmetic->read("allowed", target.allowed);
    arithmetic->read("pass", target.pass);
  }
  return node;
}

DivergeMapping read_mapping(const JsonView& value) {
  static constexpr std::array<std::pair<std::string_view, DivergeCause>, 4> kNames = {
      {{"none", DivergeCause::kNone},
       {"program", DivergeCause::kProgram},
       {"kernel", DivergeCause::kKernel},
       {"unknown", DivergeCause::kUnknown}}};
  DivergeMapping mapping;
  value.read("traced", mapping.traced);
  value.read("mapped", mapping.mapped);
  value.read("unmapped", mapping.unmapped);
  value.read("outputs_agree", mapping.outputs_agree);
  value.read("last_agreeing", mapping.last_agreeing);
  value.read("first_disagreeing", mapping.first_disagreeing);
  value.read("through", mapping.through);
  if (const auto cause = value.find("cause")) mapping.cause = choice(*cause, kNames);
  if (const auto arithmetic = value.find("arithmetic")) {
    arithmetic->read("compared", mapping.arithmetic_compared);
    arithmetic->read("diverging", mapping.arithmetic_diverging);
  }
  return mapping;
}

NodeReport read_node(const JsonView& value) {
  NodeReport node;
  value.read("method", node.method);
  value.read("instruction", node.instruction);
  value.read("delegate", node.delegate);
  value.read("node", node.node);
  value.read("name", node.name);
  node.inputs = read_io(value, "inputs");
  return node;
}

DivergeReport read_diverge(const JsonView& value) {
  DivergeReport diverge;
  value.read("reference", diverge.reference);
  if (const auto watching = value.find("watching")) {
    watching->read("changed", diverge.watching_changed);
    watching->read("max_abs", diverge.watching_max_abs);
  }
  value.read("compared", diverge.compared);
  value.read("diverging", diverge.diverging);
  if (const auto first = value.find("first")) diverge.first = read_diverge_node(*first);
  value.read("inputs_file", diverge.inputs_file);
  value.read("command", diverge.command);
  for (const JsonView& item : value.items_of("worst"))
    diverge.worst.push_back(read_diverge_node(item));
  for (const JsonView& item : value.items_of("skipped")) {
    DivergeSkipped& skipped = diverge.skipped.emplace_back();
    item.at("name").get(skipped.name);
    item.read("reason", skipped.reason);
    item.read("count", skipped.count);
  }
  if (const auto mapping = value.find("mapping")) diverge.mapping = read_mapping(*mapping);
  return diverge;
}

Timing read_timing(const JsonView& value) {
  Timing timing;
  value.read("load_ns", timing.load_ns);
  value.read("first_ns", timing.first_ns);
  const auto steady = value.find("steady");
  if (!steady) return timing;
  TimingSummary& s = timing.summary.emplace();
  steady->read("runs", s.runs);
  steady->read("min_ns", s.min_ns);
  steady->read("p50_ns", s.p50_ns);
  steady->read("p90_ns", s.p90_ns);
  steady->read("p99_ns", s.p99_ns);
  steady->read("mean_ns", s.mean_ns);
  steady->read("stddev_ns", s.stddev_ns);
  steady->read("samples_ns", timing.steady_ns);
  steady->read("sample_stride", timing.sample_stride);
  return timing;
}

RunReport read_run(const JsonView& document) {
  RunReport report;
  report.kind = read_kind(document.at("kind"));
  report.status = read_status(document.at("status"));
  document.read("exit_code", report.exit_code);
  if (const auto error = document.find("error")) report.error = read_error(*error, report.exit_code);
  if (const auto manifest = document.find("manifest")) report.manifest = read_manifest(*manifest);
  for (const JsonView& item : document.items_of("options"))
    report.options.push_back(read_option(item));
  if (const auto evidence = document.find("required_evidence")) report.required_evidence = read_evidence(*evidence);
  if (const auto load = document.find("load")) report.load = read_load(*load);
  for (const JsonView& item : document.items_of("methods"))
    report.methods.push_back(read_method(item));
  for (const JsonView& item : document.items_of("outputs"))
    report.outputs.push_back(read_output(item));
  for (const JsonView& item : document.items_of("comparisons"))
    report.comparisons.push_back(read_comparison_of_output(item));
  for (const JsonView& item : document.items_of("accuracy")) {
    AccuracyReport& accuracy = report.accuracy.emplace_back();
    item.read("step", accuracy.step);
    item.read("method", accuracy.method);
    item.read("output", accuracy.output);
    item.read("labels", accuracy.labels);
    item.read("correct", accuracy.correct);
    item.read("total", accuracy.total);
  }
  if (const auto timing = document.find("timing")) report.timing = read_timing(*timing);
  document.read("memory", report.memory);
  report.warnings = read_warnings(document);
  if (const auto node = document.find("node")) report.node = read_node(*node);
  if (const auto diverge = document.find("diverge")) report.diverge = read_diverge(*diverge);
  if (const auto bench = document.find("bench")) report.bench = read_bench(*bench);
  return report;
}

}  // namespace

Evidence read_evidence(const JsonView& value) {
  static constexpr std::array<std::pair<std::string_view, Evidence>, 5> kNames = {
      {{"parsed", Evidence::kParsed},
       {"accepted", Evidence::kAccepted},
       {"stored", Evidence::kStored},
       {"delivered", Evidence::kDelivered},
       {"effective", Evidence::kEffective}}};
  return choice(value, kNames);
}

std::vector<Warning> read_warnings(const JsonView& document) {
  std::vector<Warning> warnings;
  for (const JsonView& item : document.items_of("warnings")) {
    Warning& warning = warnings.emplace_back();
    item.at("code").get(warning.code);
    item.read("message", warning.message);
    item.read("hint", warning.hint);
  }
  return warnings;
}

Result<void> read_document(std::string_view text, const std::string& file, std::string_view schema,
                           const std::function<void(const JsonView& document)>& read) {
  const auto refuse = [&file](const std::string& message) {
    return fail(make_error(ErrorCode::kInput, in_quotes(file) + ": " + message).at("file", file));
  };
  try {
    const json document = json::parse(text);
    const JsonView view(document);
    const auto found = document.is_object() ? view.find("schema") : std::nullopt;
    if (!found || found->value() != schema) {
      return refuse(fmt::format("expected a document of schema {}, found {}", schema,
                                !found                       ? std::string("none")
                                : found->value().is_string() ? in_quotes(found->value().get_ref<const std::string&>())
                                                             : printable(found->value().dump())));
    }
    read(view);
  } catch (const ReadFailure& failure) {
    auto refused = refuse(fmt::format("expected {} at {}, found {}", failure.expected, printable(failure.pointer, 300),
                                      printable(failure.found)));
    return fail(std::move(refused.error()).at("pointer", failure.pointer));
  } catch (const json::exception& exception) {
    return refuse(std::string("is no JSON: ") + printable(exception.what(), 200));
  }
  return {};
}

Result<RunReport> read_report(std::string_view text, const std::string& file) {
  RunReport report;
  PTERUN_TRY(read_document(text, file, "pterun.report/1",
                           [&report](const JsonView& document) { report = read_run(document); }));
  return report;
}

}  // namespace pterun::report
