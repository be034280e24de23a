// Opening programs with their data files, and loading methods: memory, values, delegates, operators.
#include "runtime/loader.h"

#include <atomic>
#include <chrono>
#include <map>
#include <set>

#include "base/clock.h"
#include "base/utf8.h"
#include "runtime/constant_folding.h"
#include "runtime/method_state.h"
#include "runtime/output_dtype.h"

namespace pterun::runtime {
namespace {

// What delegates see: .ptd files first, then the program's own named data.
class MergedData final : public backend::NamedData {
 public:
  MergedData(std::shared_ptr<const program::Program> program, ExternalTensors external)
      : program_(std::move(program)), external_(std::move(external)) {}

  Result<Bytes> find(std::string_view key) const override {
    for (const auto& file : external_) {
      if (const program::ExternalEntry* entry = file->find(key)) return entry->data;
    }
    if (const auto data = program_->find_named_data(key)) return *data;
    return fail(program_error(ErrorCode::kNotFound,
                              "no data under key " + in_quotes(key) + " in the program" +
                                  (external_.empty() ? "; no .ptd file was given" : " or the given .ptd files"))
                    .at("key", std::string(key))
                    .with_hint("pass the program's data file with --data FILE.ptd"));
  }

  std::vector<std::pair<std::string_view, std::size_t>> list() const override {
    std::vector<std::pair<std::string_view, std::size_t>> entries;
    for (const auto& file : external_) {
      for (const program::ExternalEntry& entry : file->entries())
        entries.emplace_back(entry.key, entry.data.size());
    }
    for (const program::NamedBlob& blob : program_->named_data())
      entries.emplace_back(blob.key, blob.data.size());
    return entries;
  }

  void release_pages(Bytes range) const override {
    program_->release_pages(range);
    for (const auto& file : external_)
      file->release_pages(range);
  }

 private:
  std::shared_ptr<const program::Program> program_;
  ExternalTensors external_;
};

std::uint64_t next_program_id() {
  static std::atomic<std::uint64_t> next{1};
  return next++;
}

Result<void> check_unique_keys(const ExternalTensors& external) {
  std::map<std::string_view, const program::ExternalDataFile*> owners;
  for (const auto& file : external) {
    for (const program::ExternalEntry& entry : file->entries()) {
      const auto [owner, is_new] = owners.try_emplace(entry.key, file.get());
      if (is_new) continue;
      return fail(program_error(ErrorCode::kInvalidArgument, "key '" + std::string(entry.key) +
                                                                 "' is in two data files: '" + owner->second->path() +
                                                                 "' and '" + file->path() + "'")
                      .at("key", std::string(entry.key))
                      .at("file", file->path()));
    }
  }
  return {};
}

std::string uses_text(const std::vector<MissingItem>& items) {
  std::string text;
  for (const MissingItem& item : items) {
    text += (text.empty() ? "" : ", ") + item.name + " (" + std::to_string(item.uses) +
            (item.uses == 1 ? " use)" : " uses)");
  }
  return text;
}

Error missing_error(const Missing& missing, const std::string& method, const backend::BackendRegistry& backends) {
  std::string message = "method '" + method + "' needs what this build lacks:";
  if (!missing.operators.empty()) message += " operators " + uses_text(missing.operators);
  if (!missing.backends.empty()) {
    message += (missing.operators.empty() ? " backends " : "; backends ") + uses_text(missing.backends) +
               "; registered here: ";
    std::string known;
    for (const std::string& name : backends.names()) {
      known += (known.empty() ? "" : ", ") + name;
      if (!backends.find(name)->is_available())
        known += " (cannot work here: its library refuses this processor or system)";
    }
    message += known.empty() ? "none" : known;
  }
  const auto code = missing.operators.empty() ? ErrorCode::kNotFound : ErrorCode::kOperatorMissing;
  return program_error(code, std::move(message))
      .at("method", method)
      .with_hint("`pterun inspect --operators` lists the operators of this build");
}

}  // namespace

Missing find_missing(const program::MethodPlan& plan, const backend::BackendRegistry& backends,
                     const operators::OperatorRegistry& operators) {
  std::map<std::string, std::size_t> missing_operators;
  std::map<std::string, std::size_t> missing_backends;
  for (const auto& chain : plan.chains) {
    for (const program::Instruction& instruction : chain) {
      const auto* call = std::get_if<program::KernelCall>(&instruction);
      if (call == nullptr) continue;
      const std::string& name = plan.operators[call->op];
      if (operators.find(name) == nullptr) ++missing_operators[name];
    }
  }
  for (const program::DelegateSpec& delegate : plan.delegates) {
    const backend::Backend* found = backends.find(delegate.id);
    if (found == nullptr || !found->is_available()) ++missing_backends[std::string(delegate.id)];
  }
  Missing missing;
  for (const auto& [name, uses] : missing_operators)
    missing.operators.push_back({name, uses});
  for (const auto& [name, uses] : missing_backends)
    missing.backends.push_back({name, uses});
  return missing;
}

class SharedState {
 public:
  backend::BackendRegistry* backends = nullptr;
  const operators::OperatorRegistry* operators = nullptr;
  ThreadPool* threads = nullptr;
  LogSink* log = nullptr;
  std::shared_ptr<const program::Program> program;
  ExternalTensors external;
  std::unique_ptr<MergedData> named_data;
  backend::LoadOptions options;
  bool verify_caches = false;
  bool profile_nodes = false;
  std::uint64_t program_id = 0;
  std::int64_t begin_ns = 0;
  LoadTimes times;
  SharedArenas arenas;
  std::vector<std::uint32_t> shared_indices;
  std::vector<backend::Receipt> receipts;
  std::vector<std::unique_ptr<Method>> methods;

  Result<std::unique_ptr<Method>> make_method(const program::MethodPlan& plan);

 private:
  Result<void> init_delegates(Method::State& state);
  Result<std::unique_ptr<backend::Delegate>> init_delegate(const program::MethodPlan& plan, std::size_t index,
                                                           DelegateInfo& info);
  Result<void> prepare_steps(Method::State& state);
  // The step, or nothing when the call was computed here and now.
  Result<std::optional<Step>> prepare_kernel_step(Method::State& state, const ConstantFolding& folding,
                                                  const program::KernelCall& call);
  Result<void> fold(Method::State& state, const Step& step, operators::Kernel& kernel);
};

Result<std::unique_ptr<backend::Delegate>> SharedState::init_delegate(const program::MethodPlan& plan,
                                                                      std::size_t index, DelegateInfo& info) {
  const program::DelegateSpec& spec = plan.delegates[index];
  backend::InitContext context;
  context.method = plan.name;
  context.delegate_index = index;
  context.load_options = options.for_backend(spec.id);
  context.named_data = named_data.get();
  context.threads = threads;
  context.log = log;
  context.program_id = program_id;
  context.verify_caches = verify_caches;
  context.profile_nodes = profile_nodes;
  context.release_pages = [data = named_data.get()](Bytes range) { data->release_pages(range); };
  std::vector<backend::CompileSpec> compile_specs;
  for (const program::CompileSpecEntry& entry : spec.compile_specs)
    compile_specs.push_back({entry.key, entry.value});

  const std::int64_t init_begin_ns = now_ns();
  auto delegate = backends->find(spec.id)->init(context, spec.payload, compile_specs);
  info = {index, std::string(spec.id), spec.payload.size(), now_ns() - init_begin_ns, 0, nullptr};
  for (const options::Option& option : context.load_options) {
    receipts.push_back({std::string(spec.id), plan.name, index, option.key, option.value, init_begin_ns - begin_ns,
                        delegate ? "Ok" : std::string(error_code_name(delegate.error().code))});
  }
  if (!delegate) {
    return fail(std::move(delegate)
                    .error()
                    .at("method", plan.name)
                    .at("delegate", std::to_string(index) + " (" + std::string(spec.id) + ")"));
  }
  return delegate;
}

Result<void> SharedState::init_delegates(Method::State& state) {
  state.delegates.resize(state.plan.delegates.size());
  state.delegate_infos.resize(state.plan.delegates.size());
  for (std::size_t i = 0; i < state.plan.delegates.size(); ++i) {
    PTERUN_ASSIGN(state.delegates[i], init_delegate(state.plan, i, state.delegate_infos[i]));
    state.delegate_infos[i].delegate = state.delegates[i].get();
  }
  return {};
}

Result<void> SharedState::fold(Method::State& state, const Step& step, operators::Kernel& kernel) {
  const std::span<Value* const> args(state.args.data() + step.args_begin, step.args_count);
  Tensor& result = *args.back()->tensor();
  PTERUN_ASSIGN(AlignedBuffer memory, AlignedBuffer::allocate(result.capacity_bytes()));
  result.set_data(memory.data());
  operators::ExecuteContext context{threads, &state.scratch};
  auto executed = kernel.execute(context, operators::Arguments(step.name, args));
  state.scratch.reset();
  PTERUN_TRY(executed);
  result.mark_constant();
  state.folded.push_back(std::move(memory));
  ++state.folded_calls;
  return {};
}

Result<std::optional<Step>> SharedState::prepare_kernel_step(Method::State& state, const ConstantFolding& folding,
                                                             const program::KernelCall& call) {
  Step step;
  step.kind = Step::Kind::kKernel;
  step.name = state.plan.operators[call.op];
  step.args_begin = static_cast<std::uint32_t>(state.args.size());
  step.args_count = static_cast<std::uint32_t>(call.args.size());
  for (const std::uint32_t index : call.args)
    state.args.push_back(&(*state.values)[index]);
  if (step.name == "executorch_prim::et_view.default" && !call.args.empty()) {
    state.values->mark_redirected(call.args.back());
  }
  const auto in_call = [&](Error error) {
    return std::move(error).at("method", state.plan.name).at("operator", std::string(step.name));
  };
  correct_output_dtype(state, step, call, *log);
  operators::PrepareContext context{threads, log, state.kernels.size()};
  const std::span<Value* const> args(state.args.data() + step.args_begin, step.args_count);
  auto kernel = operators::prepare_kernel(*operators->find(step.name), context, operators::Arguments(step.name, args));
  if (!kernel) return fail(in_call(std::move(kernel).error()));
  ++state.kernel_calls;
  if (folding.can_fold(step.name, call, args)) {
    auto folded = fold(state, step, **kernel);
    if (!folded) return fail(in_call(std::move(folded).error()));
    return std::nullopt;
  }
  step.kernel = kernel->get();
  state.kernels.push_back(*std::move(kernel));
  return step;
}

Result<void> SharedState::prepare_steps(Method::State& state) {
  const ConstantFolding folding(state.plan);
  for (const auto& chain : state.plan.chains) {
    const auto chain_begin = static_cast<std::uint32_t>(state.steps.size());
    for (std::uint32_t index = 0; index < chain.size(); ++index) {
      const program::Instruction& instruction = chain[index];
      Step step;
      if (const auto* kernel = std::get_if<program::KernelCall>(&instruction)) {
        PTERUN_ASSIGN(const std::optional<Step> prepared, prepare_kernel_step(state, folding, *kernel));
        if (!prepared) continue;
        step = *prepared;
      } else if (const auto* call = std::get_if<program::DelegateCall>(&instruction)) {
        step.kind = Step::Kind::kDelegate;
        step.args_begin = static_cast<std::uint32_t>(state.args.size());
        step.args_count = static_cast<std::uint32_t>(call->args.size());
        for (const std::uint32_t index : call->args)
          state.args.push_back(&(*state.values)[index]);
        step.delegate = state.delegates[call->delegate].get();
        step.name = state.plan.delegates[call->delegate].id;
        step.a = call->delegate;
        ++state.delegate_infos[call->delegate].calls;
      } else if (const auto* move = std::get_if<program::MoveCall>(&instruction)) {
        step.kind = Step::Kind::kMove;
        step.a = move->from;
        step.b = move->to;
        state.values->mark_redirected(move->to);
      } else if (const auto* jump = std::get_if<program::JumpFalseCall>(&instruction)) {
        step.kind = Step::Kind::kJumpFalse;
        step.a = jump->condition;
        step.b = chain_begin + jump->destination;
      } else if (const auto* free = std::get_if<program::FreeCall>(&instruction)) {
        step.kind = Step::Kind::kFree;
        step.a = free->value;
        state.values->mark_redirected(free->value);
      }
      step.instruction = index;
      state.steps.push_back(step);
    }
  }
  state.values->save_slots();
  return {};
}

Result<std::unique_ptr<Method>> SharedState::make_method(const program::MethodPlan& plan) {
  const std::int64_t load_begin_ns = now_ns();
  const Missing missing = find_missing(plan, *backends, *operators);
  if (!missing.empty()) return fail(missing_error(missing, plan.name, *backends));
  auto state = std::make_unique<Method::State>(plan, *threads);
  state->external = external;
  PTERUN_ASSIGN(state->memory, MemoryPlan::create(plan, shared_indices, arenas));
  PTERUN_ASSIGN(state->values, ValueTable::create(plan, state->memory, external));
  PTERUN_TRY(state->values->load_initial_data(state->memory, external));
  for (const std::uint32_t index : plan.inputs)
    state->inputs.push_back(io_spec(plan.values[index]));
  for (const std::uint32_t index : plan.outputs)
    state->outputs.push_back(io_spec(plan.values[index]));
  state->staged.resize(plan.inputs.size());
  state->input_set.resize(plan.inputs.size(), false);
  PTERUN_TRY(init_delegates(*state));
  PTERUN_TRY(prepare_steps(*state));
  std::set<std::string_view> used_backends;
  for (const program::DelegateSpec& delegate : plan.delegates)
    used_backends.insert(delegate.id);
  for (const std::string_view id : used_backends)
    backends->find(id)->method_loaded(program_id, plan.name, *log);
  state->load_ns = now_ns() - load_begin_ns;
  times.methods_ns += state->load_ns;
  return std::make_unique<Method>(std::move(state));
}

LoadedProgram::LoadedProgram() : state_(std::make_unique<SharedState>()) {}
LoadedProgram::~LoadedProgram() = default;

const program::Program& LoadedProgram::program() const {
  return *state_->program;
}
const std::vector<backend::Receipt>& LoadedProgram::receipts() const {
  return state_->receipts;
}
const LoadTimes& LoadedProgram::times() const {
  return state_->times;
}
const std::vector<std::unique_ptr<Method>>& LoadedProgram::methods() const {
  return state_->methods;
}

Result<Method*> LoadedProgram::load_method(std::string_view name) {
  for (const auto& method : state_->methods) {
    if (method->name() == name) return method.get();
  }
  const program::MethodPlan* plan = state_->program->find_method(name);
  if (plan == nullptr) {
    std::string known;
    for (const program::MethodPlan& method : state_->program->methods())
      known += (known.empty() ? "" : ", ") + method.name;
    return fail(make_error(ErrorCode::kInvalidArgument,
                           "the program has no method '" + std::string(name) + "'; it has: " + known)
                    .with_blame(Blame::kUsage)
                    .at("method", std::string(name))
                    .at("file", state_->program->path()));
  }
  auto method = state_->make_method(*plan);
  if (!method) return fail(std::move(method).error().at("file", state_->program->path()));
  state_->methods.push_back(*std::move(method));
  state_->program->release_pages();
  return state_->methods.back().get();
}

Result<std::unique_ptr<LoadedProgram>> Loader::load(const LoadRequest& request) {
  std::unique_ptr<LoadedProgram> loaded(new LoadedProgram());
  SharedState& state = *loaded->state_;
  state.begin_ns = now_ns();
  state.backends = &backends_;
  state.operators = &operators_;
  state.threads = &threads_;
  state.log = &log_;
  state.options = request.options;
  state.verify_caches = request.verify_caches;
  state.profile_nodes = request.profile_nodes;
  state.program_id = next_program_id();
  PTERUN_ASSIGN(state.program, program::Program::open(request.path, request.verification));
  for (const std::string& path : request.data_paths) {
    PTERUN_ASSIGN(auto file, program::ExternalDataFile::open(path));
    state.external.push_back(std::move(file));
  }
  PTERUN_TRY(check_unique_keys(state.external));
  state.named_data = std::make_unique<MergedData>(state.program, state.external);
  state.shared_indices = shared_buffer_indices(*state.program);
  state.times.program_ns = now_ns() - state.begin_ns;
  return loaded;
}

}  // namespace pterun::runtime
