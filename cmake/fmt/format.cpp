// fmt's functions that are no templates, compiled from its headers, and the templates that those headers declare as compiled
// elsewhere (fmt 9 and 10): so that no shared library of C++ has to be loaded where the package holds no static one.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {
template FMT_API auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template FMT_API auto decimal_point_impl<char>(locale_ref) -> char;
#if FMT_VERSION >= 100000
template FMT_API void vformat_to<char>(buffer<char>&, string_view, vformat_args<>::type, locale_ref);
#endif
}  // namespace detail
FMT_END_NAMESPACE
