// Keys under which packed weights may be shared: everything that packing depends on except the seed that XNNPACK adds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "backends/xnnpack/subgraph_builder.h"

namespace pterun::backends::xnn {

// Whether XNNPACK packs the node's filter and bias when the runtime is made: it is of such a kind and both are
// constant.
bool packs_weights(const PayloadGraph& graph, const Node& node);

// The key of a node that packs weights: kind, flags, geometry, types, scales and zero points of input, filter and
// output, names and sizes of filter and bias. XNNPACK's own seed holds no scales: without them here, one filter used
// with two input scales would be packed wrongly for one of them. Exporters name constants by the SHA-256 of their
// bytes; for any other name the bytes are hashed, since two data files may give one name to different weights.
// Empty when filter or bias have no name.
std::string weight_key(const PayloadGraph& graph, const Node& node);

// Whether `name` is a SHA-256 in hex, which says that equal names are equal bytes.
bool is_content_name(std::string_view name);

// A fast hash of bytes, 128 bits as 16 bytes of text; no protection against malice.
std::string fingerprint(Bytes bytes);

}  // namespace pterun::backends::xnn
