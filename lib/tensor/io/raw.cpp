// Reading raw tensors.
#include "tensor/io/raw.h"

#include "tensor/io/named_tensor.h"

namespace pterun::io {

Result<HostTensor> read_raw(const std::string& path, DType dtype, const Shape& shape) {
  PTERUN_ASSIGN(const MappedFile file, open_input(path));
  const auto nbytes = tensor_nbytes(dtype, shape);
  if (!nbytes || *nbytes != file.bytes().size()) {
    return fail(input_error(path, {},
                            std::string(dtype_name(dtype)) + shape.to_string() + " needs " +
                                (nbytes ? std::to_string(*nbytes) : "too many") + " bytes; the file has " +
                                std::to_string(file.bytes().size())));
  }
  return copy_tensor(dtype, shape, file.bytes(), path, {});
}

}  // namespace pterun::io
