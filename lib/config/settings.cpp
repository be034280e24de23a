// The rows, and checks that follow from them.
#include "config/settings.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <string>

#include "base/suggest.h"
#include "base/utf8.h"
#include "config/document.h"

namespace pterun::config {
namespace {

constexpr std::uint8_t kRun = 1u << static_cast<unsigned>(Command::kRun);
constexpr std::uint8_t kBench = 1u << static_cast<unsigned>(Command::kBench);
constexpr std::uint8_t kInspect = 1u << static_cast<unsigned>(Command::kInspect);
constexpr std::uint8_t kOptions = 1u << static_cast<unsigned>(Command::kOptions);
constexpr std::uint8_t kModel = kRun | kBench | kInspect;
constexpr std::uint8_t kWork = kRun | kBench;
constexpr std::uint8_t kAll = kModel | kOptions;

constexpr double kMaxCount = 9223372036854775807.0;

constexpr FlagSpec value_flag(std::string_view name, std::string_view argument, std::string_view doc,
                              ValueHint hint = ValueHint::kNone) {
  return {name, "", argument, doc, false, false, hint, ""};
}
constexpr FlagSpec list_flag(std::string_view name, std::string_view argument, std::string_view doc,
                             ValueHint hint = ValueHint::kNone) {
  return {name, "", argument, doc, true, false, hint, ""};
}
constexpr FlagSpec choice_flag(std::string_view name, std::string_view choices, std::string_view doc) {
  return {name, "", choices, doc, false, false, ValueHint::kChoices, choices};
}
constexpr FlagSpec switch_flag(std::string_view name, std::string_view doc, std::string_view short_name = "") {
  return {name, short_name, "", doc, false, false, ValueHint::kNone, ""};
}
constexpr FlagSpec config_only(std::string_view choices = "") {
  return {"", "", "", "", false, false, ValueHint::kNone, choices};
}

constexpr ValueHint kFile = ValueHint::kFile;
using Kind = SettingKind;

constexpr SettingRow kRows[] = {
    // The program.
    {{"MODEL", "", "", "the program, a .pte or .bpte file", false, false, kFile, ""},
     "/model/path",
     Kind::kPaths,
     kRun | kInspect},
    {{"MODEL", "", "", "the programs, .pte or .bpte files", true, false, kFile, ""},
     "/model/path",
     Kind::kPaths,
     kBench},
    {list_flag("--data", "FILE.ptd", "external constants of the program", kFile), "/model/data", Kind::kPaths, kModel},
    {value_flag("--method", "NAME[,NAME]", "method to load; several are executed in order on one loaded program"),
     "/model/method", Kind::kText, kModel},
    {value_flag("--case", "N", "test case of a .bpte whose inputs are used"), "/model/case", Kind::kInteger, kWork, 0,
     kMaxCount},
    {choice_flag("--verify", "full|minimal", "how much of the program is checked before it is used"), "/verify",
     Kind::kChoice, kModel},

    // Backend options.
    {list_flag("--global-option", "BACKEND.KEY[:TYPE]=VALUE", "set a process-wide backend option before loading",
               ValueHint::kOption),
     "/global_options", Kind::kStructured, kWork | kOptions},
    {list_flag("--load-option", "BACKEND.KEY[:TYPE]=VALUE", "hand a backend option to this load, to every delegate",
               ValueHint::kOption),
     "/load_options", Kind::kStructured, kWork | kOptions},
    {switch_flag("--raw-options", "send options without the table's range and path checks"), "/raw_options",
     Kind::kSwitch, kWork | kOptions},
    {switch_flag("--allow-unknown-option", "pass keys on that the backend's table does not know"),
     "/allow_unknown_options", Kind::kSwitch, kWork | kOptions},
    {choice_flag("--require-evidence", "parsed|accepted|stored|delivered|effective",
                 "exit with 5 when an option provably got less far"),
     "/require_evidence", Kind::kChoice, kWork | kOptions},

    // Inputs.
    {list_flag("--input", "[NAME|INDEX=]SPEC",
               "one input: FILE.npy, FILE.npz[:KEY], FILE.safetensors[:KEY], FILE.bin, zeros, ones, arange, const(V), "
               "uniform(LO,HI), normal(MU,SD), int(LO,HI)",
               kFile),
     "/inputs", Kind::kStructured, kWork},
    {value_flag("--inputs", "FILE", "all inputs from one npz or safetensors file", kFile), "/inputs", Kind::kStructured,
     kWork},
    {list_flag("--shape", "INDEX=1x3x224x224", "size of a dynamic input"), "/shapes", Kind::kStructured, kWork},
    {list_flag("--input-dim-order", "INDEX=0,2,3,1", "feed an input laid out in this dim order"), "/input_dim_orders",
     Kind::kStructured, kWork},
    {value_flag("--seed", "N", "seed of generated inputs"), "/seed", Kind::kInteger, kWork, 0, kMaxCount},

    // Reference and tolerance.
    {value_flag("--reference", "SPEC",
                "expected outputs: FILE.npz, FILE.safetensors, bundled, pte:FILE.pte, eager:FILE.pt2, executorch, "
                "interpreter",
                kFile),
     "/reference", Kind::kText, kWork},
    {value_flag("--labels", "FILE", "integer labels; the report gives the accuracy of output 0", kFile), "/labels",
     Kind::kPath, kRun},
    {list_flag("--atol", "[OUTPUT:]V", "absolute tolerance of elements"), "/tolerance", Kind::kStructured, kWork},
    {list_flag("--rtol", "[OUTPUT:]V", "relative tolerance of elements"), "/tolerance", Kind::kStructured, kWork},
    {list_flag("--tolerance", "[OUTPUT:]BOUNDS", "bounds on metrics instead, such as 'cosine>=0.999,max_abs<=0.1'"),
     "/tolerance", Kind::kStructured, kWork},
    {value_flag("--python", "PROGRAM", "Python interpreter for live references", kFile), "/python", Kind::kPath, kWork},

    // Execution.
    {value_flag("--threads", "N", "number of threads, 1 to 1024; default: the physical cores available"), "/threads",
     Kind::kInteger, kModel, 1, 1024},
    {value_flag("--iterations", "N", "number of executions"), "/iterations", Kind::kInteger, kRun, 1, kMaxCount},
    {value_flag("--warmup", "N", "executions before those that count"), "/warmup", Kind::kInteger, kRun, 0, kMaxCount},
    {switch_flag("--fresh-state", "give mutable buffers their initial values before every execution"), "/fresh_state",
     Kind::kSwitch, kWork},
    {value_flag("--timeout", "SECONDS", "give up when it takes longer"), "/timeout_s", Kind::kNumber, kWork, 0, 1e9},

    // Benchmarks.
    {value_flag("--warmup", "N", "executions before those that count; default: until times are stable"),
     "/bench/warmup", Kind::kInteger, kBench, 0, kMaxCount},
    {value_flag("--min-runs", "N", "at least this many timed executions"), "/bench/min_runs", Kind::kInteger, kBench, 1,
     kMaxCount},
    {value_flag("--min-time", "SECONDS", "at least this long"), "/bench/min_time_s", Kind::kNumber, kBench, 0, 1e9},
    {value_flag("--max-time", "SECONDS", "at most this long"), "/bench/max_time_s", Kind::kNumber, kBench, 0, 1e9},
    {value_flag("--until-ci", "P%", "until the median's confidence interval is this narrow"), "/bench/until_ci",
     Kind::kShare, kBench, 0, 1},
    {value_flag("--processes", "N", "repeat in this many fresh processes"), "/bench/processes", Kind::kInteger, kBench,
     1, 100000},
    {switch_flag("--profile", "time per operator and node, in a run of its own"), "/bench/profile", Kind::kSwitch,
     kBench},
    {value_flag("--input-seeds", "K", "rotate generated inputs over this many seeds"), "/bench/input_seeds",
     Kind::kInteger, kBench, 1, 100000},
    {list_flag("--axis", "NAME=V1,V2,...",
               "sweep: threads, BACKEND.KEY (load path) or global:BACKEND.KEY over these values"),
     "/matrix", Kind::kStructured, kBench},
    {value_flag("--baseline", "REPORT.json", "earlier report to compare with", kFile), "/bench/baseline", Kind::kPath,
     kBench},
    {list_flag("--fail-if", "GATE", "performance gate such as 'p50>+3%'; exit 7 when it holds"), "/bench/fail_if",
     Kind::kTexts, kBench},
    {value_flag("--margin", "P%", "differences up to this share count as equivalent"), "/bench/margin", Kind::kShare,
     kBench, 0, 1},
    {value_flag("--order-seed", "N", "seed of the order of cells"), "/bench/order_seed", Kind::kInteger, kBench, 0,
     kMaxCount},
    {value_flag("--resume", "FILE", "keep finished cells in this file and go on from it", kFile), "/bench/resume",
     Kind::kPath, kBench},
    {value_flag("--shard", "K/N", "run only this share of the cells"), "/bench/shard", Kind::kText, kBench},
    {switch_flag("--plan", "print the cells and a command for each, and stop"), "/bench/plan", Kind::kSwitch, kBench},

    // Results.
    {value_flag("--json", "FILE|-", "write the report as JSON; - is stdout", kFile), "/output/json", Kind::kPath, kAll},
    {value_flag("--junit", "FILE", "write the verdicts as JUnit XML", kFile), "/output/junit", Kind::kPath, kWork},
    {value_flag("--markdown", "FILE", "write the report as Markdown", kFile), "/output/markdown", Kind::kPath, kWork},
    {value_flag("--csv", "FILE", "write the numbers as CSV", kFile), "/output/csv", Kind::kPath, kWork},
    {value_flag("--html", "FILE", "write the report as one self-contained page", kFile), "/output/html", Kind::kPath,
     kWork},
    {value_flag("--events", "FILE", "write events as JSON Lines while working", kFile), "/output/events", Kind::kPath,
     kWork},
    {value_flag("--save-outputs", "FILE|DIR/", "write the outputs to FILE.npz, FILE.safetensors or a folder", kFile),
     "/output/save_outputs", Kind::kPath, kRun},
    {choice_flag("--print", "none|stats|head|all", "how much of the outputs to print"), "/output/print", Kind::kChoice,
     kRun},
    {switch_flag("--progress", "show progress also when stderr is no terminal"), "", Kind::kSwitch, kWork},
    {switch_flag("--no-progress", "show no progress"), "", Kind::kSwitch, kWork},
    {config_only("auto|always|never"), "/output/progress", Kind::kChoice, 0},
    {{"--verbose", "-v", "", "say more on stderr; twice for more", true, false, ValueHint::kNone, ""},
     "",
     Kind::kSwitch,
     kAll},
    {switch_flag("--quiet", "say only errors on stderr", "-q"), "", Kind::kSwitch, kAll},
    {config_only(), "/output/verbosity", Kind::kInteger, 0, -1, 9},

    // The config itself.
    {value_flag("--config", "FILE.json", "read settings from this file; flags win", kFile), "", Kind::kPath, kAll},
    {value_flag("--config-profile", "NAME", "apply this profile of the config file"), "", Kind::kText, kAll},
    {list_flag("--set", "POINTER=VALUE", "change one value of the config, such as bench.min_runs=50"), "", Kind::kTexts,
     kAll},
    {switch_flag("--print-config", "print the resolved settings, each with its origin, and stop"), "", Kind::kSwitch,
     kAll},
    {config_only("pterun.config/1"), "/schema", Kind::kChoice, 0},
    {config_only(), "/$schema", Kind::kText, 0},
    {config_only(), "/extends", Kind::kPaths, 0},
    {config_only(), "/profiles", Kind::kStructured, 0},
    {config_only(), "/steps", Kind::kStructured, 0},
};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string shortest(double value) {
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, end};
}

std::string describe_range(const SettingRow& row) {
  return row.max >= kMaxCount ? "of at least " + shortest(row.min)
                              : "from " + shortest(row.min) + " to " + shortest(row.max);
}

std::string join_choices(std::string_view choices) {
  std::string text;
  for (const std::string_view choice : split(choices, '|'))
    text += (text.empty() ? "" : ", ") + std::string(choice);
  return text;
}

std::string describe_kind(const SettingRow& row) {
  switch (row.kind) {
    case Kind::kText: return "a string";
    case Kind::kPath: return "a path";
    case Kind::kPaths: return "a path or an array of paths";
    case Kind::kTexts: return "a string or an array of strings";
    case Kind::kChoice:
      return row.flag.choices.find('|') == std::string_view::npos ? "'" + std::string(row.flag.choices) + "'"
                                                                  : "one of " + join_choices(row.flag.choices);
    case Kind::kSwitch: return "true or false";
    case Kind::kInteger: return "an integer " + describe_range(row);
    case Kind::kNumber: return "a number " + describe_range(row);
    case Kind::kShare: return "a percentage such as \"1%\", or a number from 0 to 1";
    case Kind::kStructured: break;
  }
  return "a value";
}

Error wrong_value(const SettingRow& row, const Origin& origin, const std::string& found) {
  return setting_error(origin, "expected " + describe_kind(row) + ", found " + found);
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<double> parse_share(std::string_view text) {
  if (!text.ends_with('%')) return parse_number(text);
  const auto percent = parse_number(text.substr(0, text.size() - 1));
  return percent ? std::optional(*percent / 100) : std::nullopt;
}

bool in_range(const SettingRow& row, double value) {
  return value >= row.min && value <= row.max;
}

bool all_strings(const Node& value) {
  for (const Node& item : value.items) {
    if (!item.is(Node::Kind::kString)) return false;
  }
  return true;
}

// Names that may follow `prefix` ("" for the top), and whether `prefix` itself is a setting.
struct Children {
  std::vector<std::string_view> names;
  const SettingRow* row = nullptr;
};

Children children_of(std::string_view prefix) {
  Children children;
  for (const SettingRow& row : kRows) {
    if (row.pointer.empty() || !row.pointer.starts_with(prefix)) continue;
    const std::string_view rest = row.pointer.substr(prefix.size());
    if (rest.empty()) children.row = &row;
    if (rest.starts_with('/')) children.names.push_back(split(rest.substr(1), '/').front());
  }
  return children;
}

Result<void> check_names_below(const Node& node, const std::string& prefix) {
  for (std::size_t i = 0; i < node.names.size(); ++i) {
    const std::string& name = node.names[i];
    const std::string pointer = prefix + "/" + pointer_token(name);
    const Children children = children_of(pointer);
    if (children.row != nullptr) continue;
    const Node& child = node.items[i];
    if (children.names.empty()) {
      const auto known = children_of(prefix).names;
      return fail(
          setting_error(child.origin, "unknown setting " + in_quotes(name)).with_hint(did_you_mean(name, known)));
    }
    if (child.is(Node::Kind::kNull)) continue;
    if (!child.is(Node::Kind::kObject)) {
      return fail(setting_error(child.origin, "expected an object, found " + child.describe()));
    }
    PTERUN_TRY(check_names_below(child, pointer));
  }
  return {};
}

}  // namespace

std::span<const SettingRow> setting_rows() {
  return kRows;
}

std::vector<FlagSpec> plan_flags(Command command) {
  std::vector<FlagSpec> flags;
  for (const SettingRow& row : kRows) {
    if (row.known_to(command) && !row.flag.name.empty()) flags.push_back(row.flag);
  }
  return flags;
}

const SettingRow* find_flag(Command command, std::string_view flag) {
  for (const SettingRow& row : kRows) {
    if (row.known_to(command) && row.flag.name == flag) return &row;
  }
  return nullptr;
}

const SettingRow* find_row(std::string_view pointer) {
  for (const SettingRow& row : kRows) {
    if (row.pointer == pointer) return &row;
  }
  return nullptr;
}

double share_of(const Node& value) {
  return value.is(Node::Kind::kString) ? parse_share(value.text).value_or(0) : value.number;
}

Result<void> check_setting(const SettingRow& row, const Node& value) {
  if (value.is(Node::Kind::kNull)) return {};
  bool good = false;
  switch (row.kind) {
    case Kind::kText:
    case Kind::kPath: good = value.is(Node::Kind::kString); break;
    case Kind::kPaths:
    case Kind::kTexts:
      good = value.is(Node::Kind::kString) || (value.is(Node::Kind::kArray) && all_strings(value));
      break;
    case Kind::kChoice:
      for (const std::string_view choice : split(row.flag.choices, '|')) {
        good = good || (value.is(Node::Kind::kString) && value.text == choice);
      }
      if (!good && value.is(Node::Kind::kString)) {
        return fail(wrong_value(row, value.origin, in_quotes(value.text))
                        .with_hint(did_you_mean(value.text, split(row.flag.choices, '|'))));
      }
      break;
    case Kind::kSwitch: good = value.is(Node::Kind::kBool); break;
    case Kind::kInteger: good = value.is(Node::Kind::kInteger) && !value.huge && in_range(row, value.number); break;
    case Kind::kNumber:
      good = (value.is(Node::Kind::kInteger) || value.is(Node::Kind::kFloat)) && in_range(row, value.number);
      break;
    case Kind::kShare: {
      const bool text = value.is(Node::Kind::kString);
      const auto share = text ? parse_share(value.text) : std::optional(value.number);
      good = (text || value.is(Node::Kind::kInteger) || value.is(Node::Kind::kFloat)) && share && in_range(row, *share);
      break;
    }
    case Kind::kStructured: good = true; break;
  }
  if (good) return {};
  return fail(wrong_value(row, value.origin, value.describe()));
}

Result<Node> parse_setting(const SettingRow& row, const std::string& text, const Origin& origin) {
  Node value = Node::make_string(text, origin);
  const auto wrong = [&] { return fail(wrong_value(row, origin, in_quotes(text))); };
  if (!is_utf8(text)) return fail(setting_error(origin, "expected UTF-8, found " + in_quotes(text)));
  if (row.kind == Kind::kSwitch) value = Node::make_bool(text != "false", origin);
  if (row.kind == Kind::kInteger) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return wrong();
    value = Node::make_integer(number, origin);
    if (!in_range(row, value.number)) return wrong();
  }
  if (row.kind == Kind::kNumber || row.kind == Kind::kShare) {
    const auto number = row.kind == Kind::kShare ? parse_share(text) : parse_number(text);
    if (!number || !in_range(row, *number)) return wrong();
    if (!text.ends_with('%')) value = Node::make_number(*number, shortest(*number), origin);
  }
  if ((row.kind == Kind::kPath || row.kind == Kind::kText) && text.empty()) {
    return fail(wrong_value(row, origin, "an empty text"));
  }
  PTERUN_TRY(check_setting(row, value));
  return value;
}

Result<void> check_names(const Node& root) {
  return check_names_below(root, "");
}

const Node* find_pointer(const Node& root, std::string_view pointer) {
  const Node* node = &root;
  for (const std::string_view token : split(pointer.substr(1), '/')) {
    node = node->find(token);
    if (node == nullptr) return nullptr;
  }
  return node;
}

}  // namespace pterun::config
