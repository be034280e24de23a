// XNNPACK's operator API with ownership and errors.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <xnnpack.h>

#include "base/thread_pool.h"
#include "operators/arguments.h"
#include "xnnpack/library.h"

namespace pterun::operators {

struct XnnOperatorDelete {
  void operator()(xnn_operator_t op) const { xnn_delete_operator(op); }
};
using XnnOperator = std::unique_ptr<xnn_operator, XnnOperatorDelete>;

// An error unless the status is success: "aten::mm.out: reshape batch matrix multiply: XNNPACK says ...".
inline Result<void> xnn_check(const Arguments& arguments, xnn_status status, std::string_view what) {
  if (status == xnn_status_success) return {};
  return fail(xnnpack::status_error(status, std::string(arguments.operator_name()) + ": " + std::string(what))
                  .at("operator", std::string(arguments.operator_name())));
}

// The pool for work of about that many multiplications: small work stays on the caller, since waking threads would
// cost more than it brings.
inline pthreadpool_t pool_for(ThreadPool& threads, double multiplications) {
  return multiplications < 100000.0 ? nullptr : threads.handle();
}

}  // namespace pterun::operators
