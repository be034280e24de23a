// Arenas of the memory plan, and which of them methods share.
#include "runtime/memory_plan.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace pterun::runtime {
namespace {

// The buffer index of memory id 2, the exporter's place for shared mutable buffers.
constexpr std::uint32_t kSharedBuffer = 1;

struct NamedPlace {
  std::string_view name;
  std::uint64_t offset_bytes;
  std::uint64_t nbytes;
  friend auto operator<=>(const NamedPlace&, const NamedPlace&) = default;
};

std::vector<NamedPlace> named_places(const program::MethodPlan& plan, std::uint32_t buffer) {
  std::vector<NamedPlace> places;
  for (const program::ValueSpec& value : plan.values) {
    const auto* tensor = std::get_if<program::TensorSpec>(&value);
    if (tensor == nullptr || !tensor->planned || tensor->planned->buffer != buffer || tensor->name.empty()) continue;
    places.push_back({tensor->name, tensor->planned->offset_bytes, tensor->nbytes});
  }
  std::sort(places.begin(), places.end());
  return places;
}

}  // namespace

std::vector<std::uint32_t> shared_buffer_indices(const program::Program& program) {
  std::map<std::string_view, NamedPlace> places;
  std::size_t methods_with_state = 0;
  std::uint64_t buffer_bytes = 0;
  for (const program::MethodPlan& plan : program.methods()) {
    const auto named = named_places(plan, kSharedBuffer);
    if (named.empty()) continue;
    if (methods_with_state++ > 0 && plan.buffer_bytes[kSharedBuffer] != buffer_bytes) return {};
    buffer_bytes = plan.buffer_bytes[kSharedBuffer];
    for (const NamedPlace& place : named) {
      const auto [known, is_new] = places.try_emplace(place.name, place);
      if (!is_new && known->second != place) return {};
    }
  }
  if (methods_with_state < 2) return {};
  return {kSharedBuffer};
}

Result<MemoryPlan> MemoryPlan::create(const program::MethodPlan& plan, const std::vector<std::uint32_t>& shared_indices,
                                      SharedArenas& shared) {
  MemoryPlan memory;
  for (std::uint32_t i = 0; i < plan.buffer_bytes.size(); ++i) {
    const bool is_shared = std::ranges::find(shared_indices, i) != shared_indices.end();
    if (is_shared) {
      const auto known = shared.find(i);
      if (known != shared.end() && known->second->memory.size() >= plan.buffer_bytes[i]) {
        memory.arenas_.push_back(known->second);
        continue;
      }
    }
    auto arena = std::make_shared<Arena>();
    auto allocated = AlignedBuffer::allocate_zeroed(plan.buffer_bytes[i]);
    if (!allocated) {
      return fail(
          std::move(allocated).error().at("method", plan.name).at("key", "planned buffer " + std::to_string(i + 1)));
    }
    arena->memory = *std::move(allocated);
    if (is_shared) shared[i] = arena;
    memory.arenas_.push_back(std::move(arena));
  }
  return memory;
}

void MemoryPlan::mark_initialised() {
  for (const auto& arena : arenas_)
    arena->initialised = true;
}

void MemoryPlan::clear() {
  for (const auto& arena : arenas_) {
    std::memset(arena->memory.data(), 0, arena->memory.size());
    arena->initialised = false;
  }
}

}  // namespace pterun::runtime
