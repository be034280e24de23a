// Registry of operators, scratch memory, and the kernel of a plain function.
#include "operators/operator.h"

#include <algorithm>

namespace pterun::operators {

Result<std::byte*> Scratch::allocate(std::size_t size_bytes) {
  for (std::size_t i = used_blocks_; i < blocks_.size(); ++i) {
    if (blocks_[i].size() < size_bytes) continue;
    std::swap(blocks_[i], blocks_[used_blocks_]);
    return blocks_[used_blocks_++].data();
  }
  PTERUN_ASSIGN(AlignedBuffer block, AlignedBuffer::allocate(size_bytes));
  blocks_.push_back(std::move(block));
  std::swap(blocks_.back(), blocks_[used_blocks_]);
  return blocks_[used_blocks_++].data();
}

void Scratch::reset() {
  used_blocks_ = 0;
}

namespace {

bool name_less(const OperatorRow* row, std::string_view name) {
  return row->name < name;
}

class FunctionKernel final : public Kernel {
 public:
  explicit FunctionKernel(Function function) : function_(function) {}
  Result<void> execute(ExecuteContext& context, const Arguments& arguments) override {
    return function_(context, arguments);
  }

 private:
  Function function_;
};

}  // namespace

Result<void> OperatorRegistry::add(std::span<const OperatorRow> family) {
  for (const OperatorRow& row : family) {
    const auto place = std::lower_bound(sorted_.begin(), sorted_.end(), row.name, name_less);
    if (place != sorted_.end() && (*place)->name == row.name) {
      return fail(ErrorCode::kRegistrationAlreadyRegistered,
                  "operator '" + std::string(row.name) + "' is registered already");
    }
    sorted_.insert(place, &row);
  }
  return {};
}

const OperatorRow* OperatorRegistry::find(std::string_view name) const {
  const auto place = std::lower_bound(sorted_.begin(), sorted_.end(), name, name_less);
  return place != sorted_.end() && (*place)->name == name ? *place : nullptr;
}

std::vector<const OperatorRow*> OperatorRegistry::rows() const {
  return sorted_;
}

Result<std::unique_ptr<Kernel>> prepare_kernel(const OperatorRow& row, PrepareContext& context,
                                               const Arguments& arguments) {
  if (row.prepare != nullptr) return row.prepare(context, arguments);
  return std::make_unique<FunctionKernel>(row.function);
}

}  // namespace pterun::operators
