// XNNPACK workspaces: the memory of intermediate results, owned by one delegate or shared, as the option says.
// A shared workspace is as large as its largest user needs; its users run one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include <xnnpack.h>

#include "backends/xnnpack/backend_options.h"
#include "base/error.h"
#include "xnnpack/counting_allocator.h"

namespace pterun::backends::xnn {

class Workspace {
 public:
  // Errors: kMemoryAllocationFailed.
  static Result<std::shared_ptr<Workspace>> make(std::uint32_t id, bool shared);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  xnn_workspace_t handle() const { return handle_; }
  std::uint32_t id() const { return id_; }  // counted from 1 in this process

  // Held while a delegate plans or runs in the workspace; free of cost when it has one owner.
  std::unique_lock<std::mutex> lock() { return shared_ ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>(); }

  // Bytes allocated; 0 until something was planned.
  std::size_t bytes() const { return bytes_; }
  std::size_t users() const { return users_; }
  void add_user() { ++users_; }
  void remove_user() { --users_; }

 private:
  Workspace(std::uint32_t id, bool shared, xnn_workspace_t handle) : id_(id), shared_(shared), handle_(handle) {}

  std::uint32_t id_;
  bool shared_;
  xnn_workspace_t handle_;
  std::mutex mutex_;
  const void* block_ = nullptr;  // the workspace's memory, to recognise its replacement
  std::size_t bytes_ = 0;
  std::size_t users_ = 0;

  friend class PlanWatch;
};

// Watches XNNPACK plan memory in a workspace, from construction to finish(): XNNPACK does not tell a workspace's size,
// and xnn_setup_runtime forgets the status of an allocation that failed.
class PlanWatch {
 public:
  explicit PlanWatch(Workspace& workspace);
  // Notes the workspace's size. Errors: kMemoryAllocationFailed.
  Result<void> finish();

 private:
  Workspace& workspace_;
  xnnpack::AllocationWatch watch_;
};

// Hands out workspaces by sharing mode. Shared ones are held weakly: they go with their last user. Thread safe.
class Workspaces {
 public:
  Result<std::shared_ptr<Workspace>> get(WorkspaceSharing mode, std::uint64_t program_id);

 private:
  std::mutex mutex_;
  std::uint32_t next_id_ = 1;
  std::weak_ptr<Workspace> global_;
  std::map<std::uint64_t, std::weak_ptr<Workspace>> per_program_;
};

}  // namespace pterun::backends::xnn
