// The order of work, the file that keeps it, and the collection of what the processes said.
#include "pterun/session/bench_sweep.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <random>
#include <sstream>

#include <fmt/format.h>

#include "base/sha256.h"
#include "pterun/session/bench_compare.h"
#include "pterun/session/bench_process.h"
#include "pterun/session/bench_progress.h"
#include "pterun/session/host.h"
#include "pterun/session/interrupt.h"
#include "report/formats/bench.h"
#include "report/formats/wording.h"

namespace pterun::app {
namespace {

namespace fs = std::filesystem;
using report::ProcessRecord;

constexpr std::uint64_t kFewestForControl = 3;

// A folder of its own in the temporary directory, removed at the end.
class ScratchFolder {
 public:
  static Result<std::unique_ptr<ScratchFolder>> make() {
    std::error_code code;
    std::string path = (fs::temp_directory_path(code) / "pterun-bench-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) {
      return fail(ErrorCode::kOutput, fmt::format("no temporary folder can be made: {}", std::strerror(errno)));
    }
    return std::unique_ptr<ScratchFolder>(new ScratchFolder(path));
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// The records of earlier processes and a place for new ones; nothing with an empty path.
class RecordFile {
 public:
  static Result<RecordFile> open(const std::string& path) {
    RecordFile file;
    if (path.empty()) return file;
    PTERUN_TRY(file.read(path));
    file.file_.reset(std::fopen(path.c_str(), "abe"));
    if (file.file_ == nullptr) return fail(output_error(path));
    file.path_ = path;
    return file;
  }

  const ProcessRecord* find(const std::string& command, std::size_t block, bool control) const {
    const auto found = std::ranges::find_if(records_, [&](const ProcessRecord& record) {
      return record.command == command && record.block == block && record.control == control && !record.failure;
    });
    return found == records_.end() ? nullptr : &*found;
  }

  Result<void> add(const ProcessRecord& record) {
    if (file_ == nullptr) return {};
    const std::string line = report::record_line(record);
    const bool written = std::fwrite(line.data(), 1, line.size(), file_.get()) == line.size();
    if (!written || std::fflush(file_.get()) != 0) return fail(output_error(path_));
    return {};
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  static Error output_error(const std::string& path) {
    return make_error(ErrorCode::kOutput, fmt::format("--resume cannot write '{}': {}", path, std::strerror(errno)))
        .at("file", path);
  }

  // A last line without its end was being written when the process was stopped: it is cut off.
  Result<void> read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return {};
    std::ostringstream buffer;
    buffer << file.rdbuf();
    const std::string text = std::move(buffer).str();
    std::size_t begin = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
      PTERUN_ASSIGN(ProcessRecord record, report::parse_record(text.substr(begin, end - begin), path));
      records_.push_back(std::move(record));
      begin = end + 1;
    }
    if (begin == text.size()) return {};
    std::error_code code;
    fs::resize_file(path, begin, code);
    if (code) return fail(make_error(ErrorCode::kOutput, fmt::format("--resume '{}': {}", path, code.message())));
    return {};
  }

  std::vector<ProcessRecord> records_;
  std::unique_ptr<std::FILE, Close> file_;
  std::string path_;
};

struct Slot {
  std::size_t cell = 0;
  bool control = false;
};

// Fisher and Yates by hand: std::shuffle differs between standard libraries.
std::vector<Slot> block_order(std::vector<Slot> slots, std::uint64_t seed, std::size_t block) {
  std::seed_seq mixed{seed, static_cast<std::uint64_t>(block)};
  std::mt19937_64 random(mixed);
  for (std::size_t i = slots.size(); i > 1; --i)
    std::swap(slots[i - 1], slots[random() % i]);
  return slots;
}

class Sweep {
 public:
  Sweep(const config::Plan& plan, const std::vector<BenchCell>& cells, report::RunReport& report, LogSink& log,
        EventLog& events)
      : plan_(plan), cells_(cells), report_(report), log_(log), events_(events) {}

  Result<void> run() {
    PTERUN_ASSIGN(scratch_, ScratchFolder::make());
    PTERUN_ASSIGN(records_, RecordFile::open(*plan_.bench.resume));
    outputs_ = scratch_->file("");
    if (!plan_.bench.resume->empty()) PTERUN_TRY(make_outputs_folder(*plan_.bench.resume + ".outputs/"));
    describe();
    std::vector<Slot> slots;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      slots.push_back({i, false});
      const bool control = cells_.size() > 1 && *plan_.bench.processes >= kFewestForControl;
      if (cells_[i].is_baseline && control) slots.push_back({i, true});
    }
    BenchProgress progress(*plan_.output.progress, events_);
    const std::size_t total = slots.size() * *plan_.bench.processes;
    std::size_t done = 0;
    for (std::size_t block = 0; block < *plan_.bench.processes; ++block) {
      for (const Slot& slot : block_order(slots, *plan_.bench.order_seed, block)) {
        progress.show_process(done++, total, cells_[slot.cell].name);
        PTERUN_TRY(measure(slot, block));
      }
    }
    return conclude();
  }

 private:
  Result<void> make_outputs_folder(const std::string& path) {
    std::error_code code;
    fs::create_directories(path, code);
    if (code) return fail(make_error(ErrorCode::kOutput, fmt::format("--resume '{}': {}", path, code.message())));
    outputs_ = path;
    return {};
  }

  // By what the cell does, so that a resumed sweep with other cells does not take one for another.
  std::string outputs_file(const BenchCell& cell) const {
    const std::string command = cell.command();
    return outputs_ + sha256_hex(std::as_bytes(std::span(command.data(), command.size()))).substr(0, 16) +
           ".safetensors";
  }

  void describe() {
    report::BenchReport& bench = report_.bench.emplace();
    bench.processes = *plan_.bench.processes;
    bench.order_seed = *plan_.bench.order_seed;
    bench.margin = *plan_.bench.margin;
    bench.shard = *plan_.bench.shard;
    for (const BenchCell& cell : cells_) {
      report::CellReport& added = bench.cells.emplace_back();
      added.name = cell.name;
      added.model = cell.model;
      added.axes = cell.axes;
      std::ranges::sort(added.axes);  // as a report that is read back has them
      added.command = cell.command();
      added.is_baseline = cell.is_baseline;
    }
  }

  Result<void> measure(const Slot& slot, std::size_t block) {
    PTERUN_TRY(check_interrupt());
    const BenchCell& cell = cells_[slot.cell];
    const std::string command = cell.command();
    if (const ProcessRecord* known = records_.find(command, block, slot.control)) {
      take(slot, *known);
      tell_process(slot, *known, true);
      return {};
    }
    events_.emit("process_started", {{"cell", cell.name}, {"block", block}, {"control", slot.control}});
    std::vector<std::string> arguments = cell.arguments();
    const bool first = block == 0 && !slot.control;
    if (first) arguments.insert(arguments.end(), {"--save-outputs", outputs_file(cell)});
    if (first && *plan_.bench.profile) arguments.emplace_back("--profile");
    PTERUN_ASSIGN(ProcessRecord record, run_process(std::move(arguments), scratch_->file("report.json")));
    PTERUN_TRY(check_interrupt());
    record.command = command;
    record.block = block;
    record.control = slot.control;
    record.process.block = block;
    PTERUN_TRY(records_.add(record));
    take(slot, record);
    tell_process(slot, record, false);
    return {};
  }

  void tell_process(const Slot& slot, const ProcessRecord& record, bool resumed) {
    report::EventFields fields = {
        {"cell", cells_[slot.cell].name}, {"block", record.block}, {"control", slot.control}, {"resumed", resumed}};
    if (record.failure) {
      fields.emplace_back("error", record.failure->code);
      fields.emplace_back("message", record.failure->message);
    } else {
      fields.emplace_back("load_ns", record.process.load_ns);
      fields.emplace_back("first_ns", record.process.first_ns);
      fields.emplace_back("runs", record.process.steady.runs);
      if (const auto& p50 = record.process.steady.p50.value_ns) fields.emplace_back("p50_ns", *p50);
    }
    events_.emit("process_finished", fields);
  }

  void tell_cells() {
    for (const report::CellReport& cell : report_.bench->cells) {
      report::EventFields fields = {{"cell", cell.name},
                                    {"baseline", cell.is_baseline},
                                    {"processes", cell.processes.size()},
                                    {"failures", cell.failures.size()}};
      if (const auto& p50 = report::metric_of(cell, bench::GateMetric::kP50)) fields.emplace_back("p50_ns", *p50);
      if (cell.comparison) {
        fields.emplace_back("ratio", cell.comparison->test.ratio);
        fields.emplace_back("verdict", bench::verdict_name(cell.comparison->judgement.verdict));
      }
      if (cell.outputs) fields.emplace_back("outputs_pass", cell.outputs->pass);
      events_.emit("cell", fields);
    }
  }

  static void take_options(report::CellReport& cell, const ProcessRecord& record) {
    for (const report::CellOption& option : record.options) {
      const auto known = std::ranges::find_if(cell.options, [&](const report::CellOption& old) {
        return old.backend == option.backend && old.key == option.key && old.path == option.path;
      });
      if (known == cell.options.end()) {
        cell.options.push_back(option);
      } else {
        known->evidence = std::min(known->evidence, option.evidence);
      }
    }
  }

  void take(const Slot& slot, const ProcessRecord& record) {
    report::CellReport& cell = report_.bench->cells[slot.cell];
    if (record.failure) cell.failures.push_back(*record.failure);
    if (!slot.control) take_options(cell, record);
    if (record.process.steady.runs == 0) return;
    (slot.control ? control_ : cell.processes).push_back(record.process);
    if (!record.profile.empty()) cell.profile = record.profile;
    for (const Warning& warning : record.warnings) {
      const bool known = std::ranges::any_of(cell.warnings, [&](const auto& old) { return old.code == warning.code; });
      if (!known) cell.warnings.push_back(warning);
    }
  }

  Result<void> conclude() {
    report::BenchReport& bench = *report_.bench;
    const auto baseline = std::ranges::find_if(bench.cells, &report::CellReport::is_baseline);
    for (std::size_t i = 0; i < bench.cells.size(); ++i) {
      report::CellReport& cell = bench.cells[i];
      cell.metrics = report::summarize_cell(cell.processes);
      if (cell.is_baseline) continue;
      const auto at = static_cast<std::size_t>(baseline - bench.cells.begin());
      PTERUN_TRY(check_outputs(plan_, *baseline, outputs_file(cells_[at]), cell, outputs_file(cells_[i])));
    }
    compare_cells(bench, control_, log_);
    tell_cells();
    pass_on_warnings();
    if (bench.cells.size() > 1 && bench.processes == 1) {
      log_.warn({"one_process", "one process a cell supports no verdict: its placement and memory are one draw",
                 "take more (--processes 10)"});
    }
    return {};
  }

  // Each code once, with the first cell that had it.
  void pass_on_warnings() {
    std::vector<std::string> known;
    for (const report::CellReport& cell : report_.bench->cells) {
      for (const Warning& warning : cell.warnings) {
        if (std::ranges::find(known, warning.code) != known.end()) continue;
        known.push_back(warning.code);
        log_.warn({warning.code, fmt::format("{}: {}", cell.name, warning.message), warning.hint});
      }
    }
  }

  const config::Plan& plan_;
  const std::vector<BenchCell>& cells_;
  report::RunReport& report_;
  LogSink& log_;
  EventLog& events_;
  std::unique_ptr<ScratchFolder> scratch_;
  RecordFile records_;
  std::string outputs_;
  std::vector<report::ProcessReport> control_;
};

}  // namespace

bool needs_sweep(const config::Plan& plan) {
  return plan.models.size() > 1 || !plan.bench.axes.empty() || *plan.bench.processes > 1 ||
         !plan.bench.resume->empty() || !plan.bench.shard->empty();
}

Result<void> run_sweep(const config::Plan& plan, const std::vector<BenchCell>& cells, report::RunReport& report,
                       LogSink& log, EventLog& events) {
  return Sweep(plan, cells, report, log, events).run();
}

Result<void> judge_sweep(const report::BenchReport& report) {
  std::string model;
  for (const report::CellReport& cell : report.cells) {
    if (cell.is_baseline) model = cell.model;
    if (cell.failures.empty()) continue;
    const report::CellFailure& failure = cell.failures.front();
    const auto blame = static_cast<Blame>(failure.exit_code);
    const ErrorCode code = blame == Blame::kOutputs    ? ErrorCode::kMismatch
                           : blame == Blame::kEvidence ? ErrorCode::kEvidence
                                                       : ErrorCode::kInternal;
    const std::string message = fmt::format("the cell '{}' failed: {}: {}", cell.name, failure.code, failure.message);
    return fail(make_error(code, message).with_blame(blame).with_hint(cell.command));
  }
  for (const report::CellReport& cell : report.cells) {
    if (!cell.outputs || cell.outputs->pass || cell.model != model) continue;
    return fail(ErrorCode::kMismatch,
                fmt::format("the outputs of '{}' differ from the baseline's: {}", cell.name, cell.outputs->reason));
  }
  return {};
}

}  // namespace pterun::app
