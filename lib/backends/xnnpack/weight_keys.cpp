// Keys of packed weights, as byte strings with a length in front of every part of variable size.
#include "backends/xnnpack/weight_keys.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <variant>

#include "backends/xnnpack/nodes/node_table.h"

namespace pterun::backends::xnn {
namespace {

using xnnpack_payload::kNoValue;

class KeyWriter {
 public:
  template <typename T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  void add(T value) {
    key_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void add(std::string_view text) {
    add(static_cast<std::uint32_t>(text.size()));
    key_.append(text);
  }
  template <typename T>
  void add_hashed(const std::vector<T>& items) {
    add(static_cast<std::uint64_t>(items.size()));
    add(std::string_view(fingerprint(std::as_bytes(std::span(items)))));
  }
  void add_value(const Value& value);
  std::string take() { return std::move(key_); }

 private:
  std::string key_;
};

void KeyWriter::add_value(const Value& value) {
  add(value.type);
  add(value.quantization.index());
  if (const auto* tensor = value.quantized_as<xnnpack_payload::PerTensorQuantization>()) {
    add(tensor->scale);
    add(tensor->zero_point);
  } else if (const auto* channel = value.quantized_as<xnnpack_payload::PerChannelQuantization>()) {
    add(channel->channel_dim);
    add(channel->zero_point);
    add_hashed(channel->scales);
  } else if (const auto* block = value.quantized_as<xnnpack_payload::PerBlockQuantization>()) {
    add(block->block_size);
    add(block->zero_point);
    add_hashed(block->scales);
  }
  if (!value.is_constant) return;
  add(static_cast<std::uint32_t>(value.dims.rank()));
  for (const std::int64_t size : value.dims)
    add(size);
  add(value.key);
  add(static_cast<std::uint64_t>(value.data.size()));
  if (!is_content_name(value.key)) add(std::string_view(fingerprint(value.data)));
}

}  // namespace

bool packs_weights(const PayloadGraph& graph, const Node& node) {
  const NodeRow* row = find_node_row(node.kind);
  if (row == nullptr || !row->packs_weights || node.num_inputs < 2) return false;
  if (!graph.values[node.inputs[1]].is_constant) return false;
  return node.num_inputs < 3 || node.inputs[2] == kNoValue || graph.values[node.inputs[2]].is_constant;
}

std::string weight_key(const PayloadGraph& graph, const Node& node) {
  for (std::size_t i = 1; i < node.num_inputs; ++i) {
    if (node.inputs[i] != kNoValue && graph.values[node.inputs[i]].key.empty()) return {};
  }
  KeyWriter writer;
  writer.add(node.kind);
  writer.add(node.flags);
  if (const auto* p = std::get_if<xnnpack_payload::ConvolutionParams>(&node.params)) {
    for (const std::uint32_t number :
         {p->pad_top, p->pad_right, p->pad_bottom, p->pad_left, p->kernel_height, p->kernel_width, p->stride_height,
          p->stride_width, p->dilation_height, p->dilation_width, p->groups, p->group_input_channels,
          p->group_output_channels, p->adjust_height, p->adjust_width}) {
      writer.add(number);
    }
  }
  for (const ValueIndex input : node.input_ids()) {
    writer.add(input != kNoValue);
    if (input != kNoValue) writer.add_value(graph.values[input]);
  }
  for (const ValueIndex output : node.output_ids())
    writer.add_value(graph.values[output]);
  return writer.take();
}

bool is_content_name(std::string_view name) {
  return name.size() == 64 &&
         std::ranges::all_of(name, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string fingerprint(Bytes bytes) {
  constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15u;
  std::uint64_t lanes[4] = {1, 2, 3, bytes.size()};
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  const auto mix = [&](std::uint64_t& lane, std::uint64_t word) {
    lane = std::rotl((lane ^ word) * kFactor, 29) + word;
  };
  for (; left >= 32; left -= 32, at += 32) {
    std::uint64_t words[4];
    std::memcpy(words, at, 32);
    for (int i = 0; i < 4; ++i)
      mix(lanes[i], words[i]);
  }
  for (; left > 0; ++at, --left)
    mix(lanes[left % 4], std::to_integer<std::uint64_t>(*at) + 1);
  std::uint64_t halves[2] = {lanes[0], lanes[1]};
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i)
      mix(halves[i % 2], lanes[i] ^ std::rotl(halves[(i + 1) % 2], 17));
  }
  std::string text(sizeof halves, '\0');
  std::memcpy(text.data(), halves, sizeof halves);
  return text;
}

}  // namespace pterun::backends::xnn
