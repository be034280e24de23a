// Reading only.
#include "pterun/session/graph_keeper.h"

#include <fmt/format.h>

#include "backends/xnnpack_payload/payload_reader.h"

namespace pterun::app {
namespace {

class GraphKeeper final : public backend::Backend {
 public:
  explicit GraphKeeper(DelegateGraphs& graphs) : graphs_(graphs) { table_.backend = "XnnpackBackend"; }
  const options::OptionTable& option_table() const override { return table_; }
  Result<void> set_option(std::span<const options::Option>) override { return {}; }
  Result<options::OptionValue> get_option(std::string_view key) const override {
    return fail(ErrorCode::kNotFound, fmt::format("there is no option '{}'", key));
  }
  Result<std::unique_ptr<backend::Delegate>> init(const backend::InitContext& context, Bytes payload,
                                                  std::span<const backend::CompileSpec>) override {
    PTERUN_ASSIGN(auto graph, xnnpack_payload::read_payload(
                                  payload, [&](std::string_view key) { return context.named_data->find(key); }));
    graphs_[{std::string(context.method), context.delegate_index}] = std::move(graph);
    return std::make_unique<Idle>();
  }

 private:
  class Idle final : public backend::Delegate {
   public:
    Result<void> execute(std::span<Value* const>) override { return {}; }
  };
  DelegateGraphs& graphs_;
  options::OptionTable table_;
};

}  // namespace

std::unique_ptr<backend::Backend> make_graph_keeper(DelegateGraphs& graphs) {
  return std::make_unique<GraphKeeper>(graphs);
}

}  // namespace pterun::app
