// The measurement of one process. Setting inputs and resetting state are outside every timed span.
#include "pterun/session/bench_measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <sched.h>

#include <fmt/format.h>

#include "base/clock.h"
#include "bench/sampling.h"
#include "generated/version.h"
#include "pterun/session/bench_profile.h"
#include "pterun/session/bench_progress.h"
#include "pterun/session/host.h"
#include "pterun/session/interrupt.h"
#include "pterun/session/report_parts.h"

namespace pterun::app {
namespace {

std::size_t available_cpus() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<std::size_t>(std::max(CPU_COUNT(&set), 1));
}

// How often the kernel says that the first processors were slowed down for heat; 0 where it does not say.
std::int64_t throttle_events() {
  std::int64_t sum = 0;
  for (std::size_t cpu = 0; cpu < available_cpus(); ++cpu) {
    std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu{}/thermal_throttle/core_throttle_count", cpu));
    std::int64_t count = 0;
    if (file >> count) sum += count;
  }
  return sum;
}

class Measurement {
 public:
  Measurement(const config::Plan& plan, RunSession& session, report::RunReport& report)
      : plan_(plan), session_(session), report_(report) {}

  Result<void> run() {
    PTERUN_TRY(make_inputs());
    PTERUN_TRY(session_.keep_outputs(report_));
    session_.deadline().enter("measuring");
    note_memory(report_, "after_first", &session_.program());
    const std::int64_t throttled_before = throttle_events();
    PTERUN_ASSIGN(const bench::Samples samples, sample_steady());
    if (throttle_events() > throttled_before) {
      session_.log().warn({"throttled", "the processor was slowed down for heat while measuring",
                           "cool it down, or use fewer threads"});
    }
    note_memory(report_, "steady", &session_.program());
    report_.memory["peak_rss_bytes"] = peak_resident_bytes();
    report_.timing.steady_ns = samples.samples_ns;
    describe(samples);
    const report::ProcessReport& process = report_.bench->cells.front().processes.front();
    report::EventFields fields = {{"warmup_runs", process.warmup_runs},
                                  {"runs", process.steady.runs},
                                  {"stop", process.stop},
                                  {"load_ns", process.load_ns},
                                  {"first_ns", process.first_ns}};
    if (process.steady.p50.value_ns) fields.emplace_back("p50_ns", *process.steady.p50.value_ns);
    session_.events().emit("measured", fields);
    return *plan_.bench.profile ? profile() : Result<void>();
  }

 private:
  // The steps' inputs for each seed after the first; without generated inputs there is nothing to rotate.
  Result<void> make_inputs() {
    const bool generated =
        std::ranges::any_of(session_.steps(), [](const PreparedStep& step) { return step.inputs.generated; });
    for (std::uint64_t i = 1; i < *plan_.bench.input_seeds && generated; ++i) {
      std::vector<StepInputs> set;
      for (const PreparedStep& step : session_.steps()) {
        PTERUN_ASSIGN(StepInputs inputs, session_.inputs_with_seed(step, *plan_.seed + i));
        set.push_back(std::move(inputs));
      }
      rotated_.push_back(std::move(set));
    }
    if (*plan_.bench.input_seeds > 1 && !generated) {
      session_.log().warn({"inputs_not_rotated", "--input-seeds has nothing to rotate: all inputs come from files",
                           "leave inputs out, or give generators such as --input 'uniform(0,1)'"});
    }
    return {};
  }

  const StepInputs& inputs_of(std::size_t step) const {
    const std::size_t set = static_cast<std::size_t>(executions_ % (rotated_.size() + 1));
    return set == 0 ? session_.steps()[step].inputs : rotated_[set - 1][step];
  }

  // All steps once, on the session's program or, with its methods by step, on another load of it.
  Result<std::int64_t> execute(const runtime::LoadedProgram& program, const std::vector<runtime::Method*>& methods) {
    PTERUN_TRY(check_interrupt());
    if (*plan_.fresh_state) {
      for (const auto& method : program.methods())
        PTERUN_TRY(method->reset_state());
    }
    std::int64_t total_ns = 0;
    for (std::size_t i = 0; i < methods.size(); ++i) {
      if (methods.size() > 1 || !rotated_.empty()) PTERUN_TRY(set_inputs(*methods[i], inputs_of(i)));
      const std::int64_t begin_ns = now_ns();
      PTERUN_TRY(methods[i]->execute());
      total_ns += now_ns() - begin_ns;
    }
    ++executions_;
    return std::max<std::int64_t>(total_ns, 1);
  }

  Result<bench::Samples> sample_steady() {
    bench::SamplingRules rules;
    rules.warmup = *plan_.bench.warmup;
    rules.min_runs = *plan_.bench.min_runs;
    rules.min_time_ns = std::llround(*plan_.bench.min_time_s * 1e9);
    rules.max_time_ns = std::llround(*plan_.bench.max_time_s * 1e9);
    rules.until_ci = *plan_.bench.until_ci;
    BenchProgress progress(*plan_.output.progress, session_.events());
    std::vector<runtime::Method*> methods;
    for (const PreparedStep& step : session_.steps())
      methods.push_back(step.method);
    return bench::sample(rules, {[&] { return execute(session_.program(), methods); }, &now_ns,
                                 [&progress](const auto& samples_ns) { progress.show_runs(samples_ns); }});
  }

  void describe(const bench::Samples& samples) {
    report::ProcessReport process;
    process.load_ns = report_.timing.load_ns;
    process.first_ns = report_.timing.first_ns;
    process.warmup_runs = samples.warmup_runs;
    process.warmup_stable = samples.warmup_stable;
    process.stop = bench::stop_reason_name(samples.stop);
    process.steady = bench::summarize(samples.samples_ns);
    process.sample_stride = report::stride_for(samples.samples_ns.size());
    for (std::size_t i = 0; i < samples.samples_ns.size(); i += process.sample_stride)
      process.samples_ns.push_back(samples.samples_ns[i]);
    for (const report::OutputReport& output : report_.outputs)
      process.output_sha256.push_back(output.sha256);
    process.memory = report_.memory;
    warn_about_measurement(process, report_.manifest.threads, session_.log());
    report::CellReport cell;
    cell.model = *plan_.models.front();
    cell.is_baseline = true;
    cell.processes.push_back(std::move(process));
    cell.metrics = report::summarize_cell(cell.processes);
    report_.bench.emplace();
    report_.bench->margin = *plan_.bench.margin;
    report_.bench->cells.push_back(std::move(cell));
  }

  // Executions on the program loaded once more: as many as the sample had, at most 100, after one that does not count.
  Result<void> profile() {
    constexpr std::size_t kMostRuns = 100;
    PTERUN_ASSIGN(const auto program, session_.load_profiled());
    std::vector<runtime::Method*> methods;
    for (std::size_t i = 0; i < session_.steps().size(); ++i) {
      PTERUN_ASSIGN(runtime::Method * method, program->load_method(session_.steps()[i].method->name()));
      methods.push_back(method);
      PTERUN_TRY(set_inputs(*method, inputs_of(i)));
    }
    const auto run_once = [&]() -> Result<void> {
      PTERUN_ASSIGN([[maybe_unused]] const std::int64_t elapsed_ns, execute(*program, methods));
      return {};
    };
    PTERUN_TRY(run_once());
    std::vector<MethodProfile> profiles;
    for (const auto& method : program->methods())
      profiles.emplace_back(*method);
    for (MethodProfile& profile : profiles)
      profile.attach();
    Result<void> result;
    for (std::size_t i = 0; i < std::min(report_.timing.steady_ns.size(), kMostRuns) && result; ++i)
      result = run_once();
    report_.bench->cells.front().profile = collect_profile(profiles);
    return result;
  }

  const config::Plan& plan_;
  RunSession& session_;
  report::RunReport& report_;
  std::vector<std::vector<StepInputs>> rotated_;  // by seed, then step
  std::uint64_t executions_ = 1;                  // the first one used the first set
};

}  // namespace

RunSession::Execution bench_execution(const config::Plan& plan) {
  return [&plan](RunSession& session, report::RunReport& report) { return Measurement(plan, session, report).run(); };
}

void warn_about_measurement(const report::ProcessReport& process, std::size_t threads, LogSink& log) {
  const bench::Statistics& s = process.steady;
  if (std::string_view(kBuildType) == "Debug" || std::string_view(kBuildType).empty()) {
    log.warn({"debug_build", "this pterun was built without optimisation: its times say nothing",
              "build it with CMAKE_BUILD_TYPE=Release"});
  }
  if (available_cpus() < threads) {
    log.warn({"fewer_cpus_than_threads",
              fmt::format("{} threads share {} CPUs: they wait for each other", threads, available_cpus()),
              fmt::format("use --threads {}", available_cpus())});
  }
  double load = 0;
  if (std::ifstream file("/proc/loadavg"); file >> load && load > static_cast<double>(available_cpus()) + 0.5) {
    log.warn({"busy_machine", fmt::format("the load average is {:.1f} on {} CPUs", load, available_cpus()),
              "stop other work, or take more processes (--processes)"});
  }
  if (!process.warmup_stable) {
    log.warn({"warmup_not_stable", fmt::format("times were still falling after {} warm-up runs", process.warmup_runs),
              "give a number with --warmup"});
  }
  if (s.cv > 0.1) {
    log.warn({"noisy", fmt::format("times vary by {:.1f} % (standard deviation / mean)", s.cv * 100),
              "compare medians, and take more processes (--processes)"});
  }
  if (s.drift.significant && std::abs(s.drift.relative) > 0.02) {
    log.warn({"drift",
              fmt::format("times changed by {:+.1f} % from the first third to the last", s.drift.relative * 100),
              s.drift.relative > 0 ? "the processor may have been throttled: cool it down or lower its load"
                                   : "warm up longer (--warmup)"});
  }
  if (s.outliers * 20 > s.runs) {
    log.warn({"outliers", fmt::format("{} of {} runs are outliers", s.outliers, s.runs),
              "something else ran meanwhile; the median stands it, the mean does not"});
  }
}

}  // namespace pterun::app
