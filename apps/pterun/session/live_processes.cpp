// A list for the process: signal handlers and the thread of --timeout have no other way to know. Groups are atomic for
// the handlers, folders are locked.
#include "pterun/session/live_processes.h"

#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>

namespace pterun::app {
namespace {

constexpr std::size_t kMost = 16;

constinit std::array<std::atomic<int>, kMost> groups{};

struct Folders {
  std::mutex mutex;
  std::map<int, std::string> of_group;
};

// Not destroyed: the thread of --timeout may still look into it while the process ends.
Folders& folders() {
  static auto* const instance = new Folders;
  return *instance;
}

}  // namespace

void note_live_process(const reference::LiveProcess& process) {
  Folders& known = folders();
  const std::lock_guard lock(known.mutex);
  if (process.runs) {
    known.of_group[process.group] = process.folder;
  } else {
    known.of_group.erase(process.group);
  }
  for (std::atomic<int>& group : groups) {
    int expected = process.runs ? 0 : process.group;
    if (group.compare_exchange_strong(expected, process.runs ? process.group : 0)) return;
  }
}

void kill_live_processes() {
  for (const std::atomic<int>& group : groups) {
    if (const int leader = group.load(); leader > 0) ::kill(-leader, SIGKILL);
  }
}

void end_live_processes() {
  kill_live_processes();
  Folders& known = folders();
  const std::lock_guard lock(known.mutex);
  std::error_code ignored;
  for (const auto& [group, folder] : known.of_group)
    std::filesystem::remove_all(folder, ignored);
}

}  // namespace pterun::app
