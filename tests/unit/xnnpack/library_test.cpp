// Initialising XNNPACK, what it says about itself, and the counting allocator.
#include "xnnpack/library.h"

#include <algorithm>

#include <catch2/catch_test_macros.hpp>

#include "xnnpack/counting_allocator.h"

using namespace pterun;

TEST_CASE("initialises XNNPACK as often as it is asked") {
  CHECK(xnnpack::initialize().has_value());
  CHECK(xnnpack::initialize().has_value());
}

TEST_CASE("names the library, its kernels and the processor") {
  CHECK(xnnpack::library_version().starts_with("20"));
  CHECK(xnnpack::build_identifier().size() == 16);
  const auto features = xnnpack::cpu_features();
  CHECK(!features.empty());
  CHECK(std::ranges::is_sorted(features));
}

TEST_CASE("maps a status to an error that names it") {
  CHECK(xnnpack::status_error(xnn_status_out_of_memory, "packing").code == ErrorCode::kMemoryAllocationFailed);
  CHECK(xnnpack::status_error(xnn_status_unsupported_parameter, "x").code == ErrorCode::kNotSupported);
  const Error error = xnnpack::status_error(xnn_status_invalid_parameter, "node 3");
  CHECK(error.code == ErrorCode::kInternal);
  CHECK(error.message == "node 3: XNNPACK says invalid_parameter");
}

TEST_CASE("counts what the allocator hands out, and forgets what is freed") {
  const xnn_allocator& allocator = xnnpack::counting_allocator();
  const auto before = xnnpack::allocation_totals();
  void* block = allocator.allocate(nullptr, 10000);
  CHECK(xnnpack::allocation_totals().live_bytes >= before.live_bytes + 10000);
  block = allocator.reallocate(nullptr, block, 50000);
  CHECK(xnnpack::allocation_totals().live_bytes >= before.live_bytes + 50000);
  allocator.deallocate(nullptr, block);
  allocator.deallocate(nullptr, nullptr);
  CHECK(xnnpack::allocation_totals().live_bytes == before.live_bytes);
  CHECK(xnnpack::allocation_totals().peak_bytes >= before.live_bytes + 50000);
}

TEST_CASE("a watch sees the last aligned block and the freeing of a given one") {
  const xnn_allocator& allocator = xnnpack::counting_allocator();
  void* first = allocator.aligned_allocate(nullptr, 64, 128);
  {
    xnnpack::AllocationWatch watch;
    watch.look_out_for(first);
    CHECK(watch.last_block() == nullptr);
    void* second = allocator.aligned_allocate(nullptr, 64, 4096);
    CHECK(watch.last_block() == second);
    CHECK(watch.last_bytes() == 4096);
    allocator.aligned_deallocate(nullptr, second);
    CHECK(!watch.saw_freed());
    allocator.aligned_deallocate(nullptr, first);
    CHECK(watch.saw_freed());
  }
  void* outside = allocator.aligned_allocate(nullptr, 64, 64);
  allocator.aligned_deallocate(nullptr, outside);
}
