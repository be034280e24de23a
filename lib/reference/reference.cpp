// Choosing a source by its spec.
#include "reference/reference.h"

#include <fmt/format.h>

namespace pterun::reference {

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::kFile: return "file";
    case Kind::kBundled: return "bundled";
    case Kind::kProgram: return "program";
    case Kind::kInterpreter: return "interpreter";
    case Kind::kFloatEager: return "float_eager";
    case Kind::kConvertedGraph: return "converted_graph";
    case Kind::kExecutorch: return "executorch";
  }
  return "file";
}

Result<std::unique_ptr<Source>> make_source(std::string_view spec, std::span<const SourceKind> kinds,
                                            const SourceContext& context) {
  const SourceKind* fallback = nullptr;
  for (const SourceKind& kind : kinds) {
    if (kind.prefix.empty()) {
      fallback = &kind;
    } else if (kind.whole ? spec == kind.prefix : spec.starts_with(kind.prefix)) {
      return kind.make(spec.substr(kind.prefix.size()), context);
    }
  }
  if (fallback != nullptr && !spec.empty()) return fallback->make(spec, context);
  return fail(ErrorCode::kReference, fmt::format("'{}' is no reference", spec));
}

}  // namespace pterun::reference
