// Merges the layers and reads the plan from the result.
#include "config/make_plan.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/utf8.h"
#include "config/document.h"
#include "config/layers.h"
#include "config/settings.h"
#include "config/step_reader.h"

namespace pterun::config {
namespace {

using Kind = Node::Kind;

// Null and absent are the same: not set.
const Node* find_value(const Node& root, std::string_view pointer) {
  const Node* node = find_pointer(root, pointer);
  return node == nullptr || node->is(Kind::kNull) ? nullptr : node;
}

// The values were checked against their rows when their layer was made, so that reading cannot fail.
class PlanReader {
 public:
  explicit PlanReader(const Node& root) : root_(root) {}

  void read(std::string_view pointer, Setting<std::string>& setting) const {
    if (const Node* node = find_value(root_, pointer)) setting = {node->text, node->origin};
  }
  void read(std::string_view pointer, Setting<bool>& setting) const {
    if (const Node* node = find_value(root_, pointer)) setting = {node->boolean, node->origin};
  }
  void read(std::string_view pointer, Setting<std::uint64_t>& setting) const {
    if (const Node* node = find_value(root_, pointer))
      setting = {static_cast<std::uint64_t>(node->integer), node->origin};
  }
  void read(std::string_view pointer, Setting<int>& setting) const {
    if (const Node* node = find_value(root_, pointer)) setting = {static_cast<int>(node->integer), node->origin};
  }
  void read(std::string_view pointer, Setting<std::optional<std::uint64_t>>& setting) const {
    if (const Node* node = find_value(root_, pointer))
      setting = {static_cast<std::uint64_t>(node->integer), node->origin};
  }
  void read(std::string_view pointer, Setting<double>& setting) const {
    if (const Node* node = find_value(root_, pointer)) setting = {share_of(*node), node->origin};
  }
  void read(std::string_view pointer, Setting<std::optional<double>>& setting) const {
    if (const Node* node = find_value(root_, pointer)) setting = {share_of(*node), node->origin};
  }
  void read(std::string_view pointer, std::vector<Setting<std::string>>& settings) const {
    const Node* node = find_value(root_, pointer);
    if (node == nullptr) return;
    if (node->is(Kind::kString)) settings.push_back({node->text, node->origin});
    for (const Node& item : node->items)
      settings.push_back({item.text, item.origin});
  }
  // An enumeration whose values stand in the order of the choices of the pointer's row, from `first` on.
  template <typename Enum>
  void read_choice(std::string_view pointer, Setting<Enum>& setting, int first = 0) const {
    const Node* node = find_value(root_, pointer);
    if (node == nullptr) return;
    const std::string_view choices = find_row(pointer)->flag.choices;
    const std::string wanted = "|" + node->text + "|";
    const std::string all = "|" + std::string(choices) + "|";
    const auto before = all.substr(0, all.find(wanted) + 1);
    setting = {static_cast<Enum>(std::ranges::count(before, '|') - 1 + first), node->origin};
  }

 private:
  const Node& root_;
};

std::string scalar_text(const Node& node) {
  return node.is(Kind::kBool) ? (node.boolean ? "true" : "false") : node.text;
}

CellPlan read_cell(const Node& node) {
  CellPlan cell;
  for (std::size_t i = 0; i < node.items.size(); ++i)
    cell.emplace_back(node.names[i], scalar_text(node.items[i]));
  return cell;
}

void read_matrix(const Node& root, BenchPlan& bench) {
  const Node* matrix = find_value(root, "/matrix");
  if (matrix == nullptr) return;
  for (std::size_t i = 0; i < matrix->items.size(); ++i) {
    const Node& value = matrix->items[i];
    if (matrix->names[i] == "baseline") {
      bench.baseline_cell = read_cell(value);
    } else if (matrix->names[i] == "exclude") {
      for (const Node& cell : value.items)
        bench.excludes.push_back(read_cell(cell));
    } else {
      AxisPlan axis{matrix->names[i], {}, value.origin};
      for (const Node& item : value.items)
        axis.values.push_back(scalar_text(item));
      bench.axes.push_back(std::move(axis));
    }
  }
}

void read_bench(const PlanReader& reader, BenchPlan& bench) {
  reader.read("/bench/warmup", bench.warmup);
  reader.read("/bench/min_runs", bench.min_runs);
  reader.read("/bench/min_time_s", bench.min_time_s);
  reader.read("/bench/max_time_s", bench.max_time_s);
  reader.read("/bench/until_ci", bench.until_ci);
  reader.read("/bench/processes", bench.processes);
  reader.read("/bench/profile", bench.profile);
  reader.read("/bench/input_seeds", bench.input_seeds);
  reader.read("/bench/baseline", bench.baseline_report);
  reader.read("/bench/fail_if", bench.fail_if);
  reader.read("/bench/margin", bench.margin);
  reader.read("/bench/order_seed", bench.order_seed);
  reader.read("/bench/resume", bench.resume);
  reader.read("/bench/plan", bench.plan_only);
  reader.read("/bench/shard", bench.shard);
}

void read_output(const PlanReader& reader, Command command, OutputPlan& output) {
  // A config serves several commands: a file that this one does not write is left alone.
  const auto read_file = [&](std::string_view pointer, Setting<std::string>& file) {
    const bool known = std::ranges::any_of(
        setting_rows(), [&](const SettingRow& row) { return row.pointer == pointer && row.known_to(command); });
    if (known) reader.read(pointer, file);
  };
  read_file("/output/json", output.json);
  read_file("/output/junit", output.junit);
  read_file("/output/markdown", output.markdown);
  read_file("/output/csv", output.csv);
  read_file("/output/html", output.html);
  read_file("/output/events", output.events);
  read_file("/output/export_hyperfine", output.export_hyperfine);
  read_file("/output/export_google_benchmark", output.export_google_benchmark);
  reader.read("/output/save_outputs", output.save_outputs);
  reader.read_choice("/output/print", output.print);
  reader.read_choice("/output/progress", output.progress);
  reader.read("/output/verbosity", output.verbosity);
}

void read_settings(const Node& root, Command command, Plan& plan) {
  const PlanReader reader(root);
  reader.read("/model/path", plan.models);
  reader.read("/model/data", plan.data_files);
  reader.read("/model/case", plan.bundled_case);
  reader.read_choice("/verify", plan.verify);
  reader.read("/verify_cache", plan.verify_cache);
  reader.read("/raw_options", plan.options.raw);
  reader.read("/allow_unknown_options", plan.options.allow_unknown);
  reader.read_choice("/require_evidence", plan.options.require_evidence, 1);
  reader.read("/threads", plan.threads);
  reader.read("/timeout_s", plan.timeout_s);
  reader.read("/seed", plan.seed);
  reader.read("/iterations", plan.iterations);
  reader.read("/warmup", plan.warmup);
  reader.read("/fresh_state", plan.fresh_state);
  reader.read("/diverge", plan.diverge);
  reader.read("/diverge_inputs", plan.diverge_inputs);
  reader.read("/node", plan.node);
  reader.read("/python", plan.python);
  reader.read("/python_timeout_s", plan.python_timeout_s);
  read_bench(reader, plan.bench);
  read_matrix(root, plan.bench);
  read_output(reader, command, plan.output);
}

constexpr std::array kStepSettings = {"inputs",         "shapes", "input_dim_orders", "reference",
                                      "reference_kind", "labels", "tolerance"};

Node only_step_settings(const Node& root) {
  Node step = Node::make_object(root.origin);
  for (const char* name : kStepSettings) {
    if (const Node* value = root.find(name)) step.set(name, *value);
  }
  return step;
}

std::vector<std::string> split_methods(const std::string& text) {
  std::vector<std::string> methods;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    methods.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return methods;
}

// What stands once cannot be tensors of several methods.
Result<void> check_shared_by_methods(const StepPlan& step) {
  const auto wrong = [](const Origin& origin, const std::string& what, const std::string& found) {
    return fail(setting_error(origin, "expected " + what + " with several methods, found " + in_quotes(found))
                    .with_hint("give each method its own in a config's \"steps\""));
  };
  if (!step.inputs_file.value.empty()) {
    return wrong(step.inputs_file.origin, "generated or default inputs", step.inputs_file.value);
  }
  for (const InputPlan& input : step.inputs) {
    if (!is_generator(input.spec)) return wrong(input.origin, "generated or default inputs", input.spec);
  }
  if (!step.labels.value.empty()) return wrong(step.labels.origin, "no labels", step.labels.value);
  if (!step.reference.value.empty() && is_reference_of_one_method(step.reference.value)) {
    return wrong(step.reference.origin, "a reference for any method (bundled, pte:FILE, executorch, interpreter)",
                 step.reference.value);
  }
  return {};
}

// One step per name in the method setting: `forward`, "a,b", or none for the default.
Result<void> read_method_steps(const Node& merged, Plan& plan) {
  const Node* method = find_value(merged, "/model/method");
  const auto names = split_methods(method == nullptr ? "" : method->text);
  for (const std::string& name : names) {
    StepPlan step;
    if (method != nullptr) {
      if (name.empty())
        return fail(setting_error(method->origin, "expected method names, found " + in_quotes(method->text)));
      step.method = {name, method->origin};
    }
    PTERUN_TRY(read_step(merged, step));
    if (names.size() > 1) PTERUN_TRY(check_shared_by_methods(step));
    plan.steps.push_back(std::move(step));
  }
  return {};
}

// The config's steps; each inherits the config's tolerance, and what the flags say wins in every one.
Result<void> read_config_steps(const Node& config, const Node& steps, const Node& flags, Plan& plan) {
  for (const char* name : {"inputs", "shapes", "input_dim_orders", "reference", "reference_kind", "labels"}) {
    const Node* value = find_value(config, std::string("/") + name);
    if (value == nullptr) continue;
    return fail(setting_error(value->origin, "expected it inside the steps, found it beside \"steps\""));
  }
  const Node flag_settings = only_step_settings(flags);
  if (steps.items.size() > 1) {
    StepPlan shared;
    PTERUN_TRY(read_step(flag_settings, shared));
    PTERUN_TRY(check_shared_by_methods(shared));
  }
  for (std::size_t i = 0; i < steps.items.size(); ++i) {
    const std::string pointer = "/steps/" + std::to_string(i);
    Node merged = only_step_settings(config);
    merge(merged, steps.items[i], pointer, nullptr);
    merge(merged, flag_settings, pointer, &plan.shadowed);
    StepPlan step;
    if (const Node* method = find_value(steps.items[i], "/method")) step.method = {method->text, method->origin};
    PTERUN_TRY(read_step(merged, step));
    plan.steps.push_back(std::move(step));
  }
  return {};
}

Result<void> read_steps(const Node& config, const Node& flags, const Node& merged, Plan& plan) {
  const Node* steps = find_value(config, "/steps");
  const Node* flag_method = find_value(flags, "/model/method");
  if (steps == nullptr) return read_method_steps(merged, plan);
  if (flag_method == nullptr) return read_config_steps(config, *steps, flags, plan);
  plan.shadowed.push_back({"/steps", steps->to_json(), steps->origin, flag_method->origin});
  return read_method_steps(merged, plan);
}

// Variables that stand for a setting, below every config: name and pointer.
constexpr std::array<std::pair<const char*, const char*>, 2> kVariables = {
    {{"PTERUN_THREADS", "/threads"}, {"PTERUN_PYTHON", "/python"}}};

Result<Node> read_environment(const PlanRequest& request) {
  Node root = Node::make_object({});
  for (const auto& [name, pointer] : kVariables) {
    const auto text = request.environment ? request.environment(name) : std::nullopt;
    if (!text || text->empty()) continue;
    const Origin origin{Origin::Kind::kEnvironment, name, "", 0};
    PTERUN_ASSIGN(Node value, parse_setting(*find_row(pointer), *text, origin));
    root.set(pointer + 1, std::move(value));
  }
  return root;
}

}  // namespace

Result<Plan> make_plan(const PlanRequest& request) {
  Plan plan;
  PTERUN_ASSIGN(FlagLayer flags, make_flag_layer(request.command, request.flags));
  Origin config_origin{Origin::Kind::kFlag, "--config", "", 0};
  if (flags.config.path.empty() && request.environment) {
    flags.config.path = request.environment("PTERUN_CONFIG").value_or("");
    config_origin = {Origin::Kind::kEnvironment, "PTERUN_CONFIG", "", 0};
  }
  if (!flags.config.path.empty()) plan.config_file = {flags.config.path, config_origin};

  PTERUN_ASSIGN(Node config, read_environment(request));
  auto layer = make_config_layer(flags.config, plan.shadowed);
  if (!layer) {
    Error error = std::move(layer).error();
    if (config_origin.kind == Origin::Kind::kEnvironment && plan.config_file.given()) {
      error.where.try_emplace("config", config_origin.describe());
    }
    return fail(std::move(error));
  }
  merge(config, layer->root, "", &plan.shadowed);
  Node merged = config;
  merge(merged, flags.layer.root, "", &plan.shadowed);

  plan.options.requests = std::move(layer->requests);
  std::ranges::move(flags.layer.requests, std::back_inserter(plan.options.requests));
  read_settings(merged, request.command, plan);
  PTERUN_TRY(read_steps(config, flags.layer.root, merged, plan));
  if (request.command != Command::kBench && plan.models.size() > 1) {
    return fail(
        setting_error(plan.models[1].origin, "expected one program, found " + std::to_string(plan.models.size())));
  }
  plan.print_config = flags.config.print;
  plan.resolved_json = merged.to_json();
  plan.resolved = std::move(merged);
  return plan;
}

}  // namespace pterun::config
