// Workspaces by sharing mode, and their sizes.
#include "backends/xnnpack/workspaces.h"

#include <fmt/format.h>

#include "xnnpack/library.h"

namespace pterun::backends::xnn {

Result<std::shared_ptr<Workspace>> Workspace::make(std::uint32_t id, bool shared) {
  xnn_workspace_t handle = nullptr;
  if (const xnn_status status = xnn_create_workspace(&handle); status != xnn_status_success) {
    return fail(xnnpack::status_error(status, "a workspace cannot be made"));
  }
  return std::shared_ptr<Workspace>(new Workspace(id, shared, handle));
}

Workspace::~Workspace() {
  xnn_release_workspace(handle_);
}

PlanWatch::PlanWatch(Workspace& workspace) : workspace_(workspace) {
  watch_.look_out_for(workspace.block_);
}

Result<void> PlanWatch::finish() {
  if (watch_.failed_bytes() != 0) {
    return fail(
        make_error(ErrorCode::kMemoryAllocationFailed,
                   fmt::format("XNNPACK could not allocate {} bytes for intermediate results", watch_.failed_bytes())));
  }
  const bool replaced = watch_.saw_freed() || workspace_.block_ == nullptr;
  if (replaced && watch_.last_block() != nullptr) {
    workspace_.block_ = watch_.last_block();
    workspace_.bytes_ = watch_.last_bytes();
  }
  return {};
}

Result<std::shared_ptr<Workspace>> Workspaces::get(WorkspaceSharing mode, std::uint64_t program_id) {
  const std::lock_guard lock(mutex_);
  std::weak_ptr<Workspace>* slot = nullptr;
  if (mode == WorkspaceSharing::kGlobal) slot = &global_;
  if (mode == WorkspaceSharing::kPerModel) {
    std::erase_if(per_program_, [](const auto& entry) { return entry.second.expired(); });
    slot = &per_program_[program_id];
  }
  if (slot != nullptr) {
    if (auto existing = slot->lock()) return existing;
  }
  PTERUN_ASSIGN(auto workspace, Workspace::make(next_id_++, slot != nullptr));
  if (slot != nullptr) *slot = workspace;
  return workspace;
}

}  // namespace pterun::backends::xnn
