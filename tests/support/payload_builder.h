// XNNPACK delegate payloads for tests: a graph put together by hand, written as an exporter would write it, and a
// delegate made from it through the backend's own init.
//
//   PayloadBuilder b;
//   const auto x = b.input(DataType::kFp32, {2, 3});
//   const auto y = b.output(DataType::kFp32, {2, 3});
//   b.node(NodeKind::kSigmoid, {x}, {y});
//   const std::vector<std::byte> payload = b.write();
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backends/xnnpack_payload/graph.h"

namespace pterun::test {

using xnnpack_payload::DataType;
using xnnpack_payload::Node;
using xnnpack_payload::NodeKind;
using xnnpack_payload::NodeParams;
using xnnpack_payload::Quantization;
using xnnpack_payload::ValueIndex;

// Named data for tests: what a program's named data or a .ptd file would hold.
class FakeNamedData final : public backend::NamedData {
 public:
  void add(const std::string& key, std::vector<std::byte> bytes) { blobs_[key] = std::move(bytes); }
  Result<Bytes> find(std::string_view key) const override;
  std::vector<std::pair<std::string_view, std::size_t>> list() const override;
  void release_pages(Bytes range) const override { released_bytes += range.size(); }
  mutable std::size_t released_bytes = 0;

 private:
  std::map<std::string, std::vector<std::byte>, std::less<>> blobs_;
};

// Where constants and scales are written to.
enum class ConstantPlace { kNamed, kRegion, kInline };

// What a hostile or old file says differently from the graph. Applied to the value or node of that index.
struct ValueLie {
  std::optional<std::uint32_t> num_dims, flags, external_id, constant_index, id, num_scales, scale_index;
  std::optional<int> type, channel_dim, zero_point, group_size, num_nonbatch_dims;
  std::optional<float> scale;
  bool dq_qint8 = false;  // old: dq_datatype
  bool inline_scales = false;
  bool drop_quantization = false;
};
struct NodeLie {
  std::optional<std::uint32_t> input_id, output_id, tag;
  bool drop_lists = false;  // perm, new_shape, offsets, sizes, paddings
};

class PayloadBuilder {
 public:
  ValueIndex input(DataType type, const Shape& dims, Quantization quantization = {});
  ValueIndex output(DataType type, const Shape& dims, Quantization quantization = {});
  ValueIndex internal(DataType type, const Shape& dims, Quantization quantization = {});
  // The constant's bytes; with `place` kNamed under `key` (made up when empty).
  ValueIndex constant(DataType type, const Shape& dims, std::vector<std::byte> bytes, Quantization quantization = {},
                      std::string key = {});
  template <typename T>
  ValueIndex constant(DataType type, const Shape& dims, const std::vector<T>& values, Quantization quantization = {},
                      std::string key = {}) {
    const auto bytes = std::as_bytes(std::span(values));
    return constant(type, dims, std::vector<std::byte>(bytes.begin(), bytes.end()), std::move(quantization),
                    std::move(key));
  }
  // The node just added; to set flags and range.
  Node& node(NodeKind kind, const std::vector<ValueIndex>& inputs, const std::vector<ValueIndex>& outputs,
             NodeParams params = {});

  xnnpack_payload::PayloadGraph& graph() { return graph_; }
  FakeNamedData& named_data() { return named_data_; }
  std::map<ValueIndex, ValueLie> value_lies;
  std::map<std::size_t, NodeLie> node_lies;
  ConstantPlace place = ConstantPlace::kNamed;
  std::string identifier = "XN01";

  // The payload; also fills named_data().
  std::vector<std::byte> write();

 private:
  xnnpack_payload::PayloadGraph graph_;
  std::deque<std::vector<std::byte>> bytes_;
  std::deque<std::string> keys_;
  FakeNamedData named_data_;
};

// A delegate of one payload, initialised by the XNNPACK backend as the runtime would do it.
class DelegateHarness {
 public:
  explicit DelegateHarness(backend::Backend& backend, std::size_t threads = 1)
      : backend_(backend), threads_(std::make_unique<ThreadPool>(threads)) {}

  std::vector<options::Option> load_options;
  std::uint64_t program_id = 1;
  std::string method = "forward";
  bool verify_caches = false;

  // Also says that the method is loaded: it has this one delegate.
  Result<void> init(PayloadBuilder& builder);
  Result<void> init(std::vector<std::byte> payload, const backend::NamedData& named_data);
  // `tensors` in the order of external ids; outputs are resized.
  Result<void> execute(const std::vector<Tensor*>& tensors);
  const backend::Delegate& delegate() const { return *delegate_; }
  std::int64_t metric(const std::string& name) const { return delegate_->metrics().at(name); }
  void reset() { delegate_.reset(); }
  CollectingLog log;

 private:
  backend::Backend& backend_;
  std::unique_ptr<ThreadPool> threads_;
  std::vector<std::byte> payload_;
  std::unique_ptr<backend::Delegate> delegate_;
};

}  // namespace pterun::test
