// The tensors around one result, kept on a second walk and written to an .npz: what the node was given (input_N), what
// it made of that (got) and what the reference says (want).
#pragma once

#include <string>
#include <vector>

#include "pterun/diverge/walk.h"

namespace pterun::app {

// Which results: the inputs of one, and what another that follows it, or the same, has become.
struct KeepRequest {
  std::size_t inputs_of = 0;  // ResultPlace::visit
  std::size_t result_of = 0;
  std::string want_key;              // "want", or "want_N" of an operator's argument N; used with `want`
  const HostTensor* want = nullptr;  // in place of what the reference program gives; borrowed, may be null
};

class TensorKeeper final : public ResultVisitor {
 public:
  explicit TensorKeeper(const KeepRequest& request) : request_(request) {}

  Result<void> before_operator(const ResultPlace& place, const runtime::Instruction& instruction) override;
  Result<void> after_operator(const ResultPlace& place, const runtime::Instruction& watched,
                              const runtime::Instruction& twin) override;
  Result<void> visit_node(const ResultPlace& place, const backends::interpreter::NodeCheck& check) override;
  // Errors: kOutput.
  Result<void> write(const std::string& path) const;

 private:
  struct Kept {
    std::string name;
    HostTensor tensor;
  };
  Result<void> keep_copy(std::string name, const Tensor& tensor);
  Result<void> keep_reals(std::string name, const Shape& shape, const backends::interpreter::Reals& reals);

  KeepRequest request_;
  std::vector<Kept> kept_;
};

}  // namespace pterun::app
