// Lines of words; everything that points into the data is checked.
#include "reference/eager_trace.h"

#include <charconv>
#include <map>
#include <optional>
#include <ranges>
#include <string_view>

#include <fmt/format.h>

#include "base/checked.h"
#include "tensor/io/named_tensor.h"
#include "tensor/io/safetensors.h"

namespace pterun::reference {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::optional<std::uint64_t> number(std::string_view word) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

std::optional<Shape> shape_of(std::string_view word) {
  Shape shape;
  if (word == "-") return shape;
  for (const std::string_view part : split(word, 'x')) {
    const auto size = number(part);
    if (!size || *size > static_cast<std::uint64_t>(INT64_MAX) || shape.rank() == kMaxRank) return std::nullopt;
    shape.push_back(static_cast<std::int64_t>(*size));
  }
  return shape;
}

class Reader {
 public:
  Reader(EagerTrace& trace, std::string file) : trace_(trace), file_(std::move(file)) {}

  Result<void> read(std::string_view text) {
    for (const std::string_view line : split(text, '\n')) {
      ++line_;
      const std::vector<std::string_view> words = split(line, ' ');
      if (words.empty()) return refuse("it is empty");
      if (words[0] == "result") {
        PTERUN_TRY(read_result(words));
      } else if (words[0] == "input") {
        PTERUN_TRY(read_input(words));
      } else if (words[0] == "skipped" && words.size() > 3) {
        trace_.skipped.push_back(
            {std::string(words[2]), std::string(line.substr(static_cast<std::size_t>(words[3].data() - line.data())))});
      } else if (words[0] == "outputs") {
        for (const std::string_view word : words | std::views::drop(1))
          trace_.outputs.push_back(find_output(word));
      } else {
        return refuse(fmt::format("it begins with '{}'", words[0]));
      }
    }
    return {};
  }

 private:
  Result<void> refuse(const std::string& what) const {
    return fail(make_error(ErrorCode::kReference, fmt::format("'{}': line {}: {}", file_, line_, what)));
  }

  // NODE:ITEM.
  std::optional<std::size_t> find_output(std::string_view word) const {
    const std::size_t colon = std::min(word.find(':'), word.size());
    const auto found = by_node_.find(std::string(word.substr(0, colon)));
    const auto item = number(word.substr(std::min(colon + 1, word.size())));
    if (found == by_node_.end() || !item) return std::nullopt;
    for (const std::size_t result : found->second)
      if (trace_.results[result].item == *item) return result;
    return std::nullopt;
  }

  Result<void> read_input(const std::vector<std::string_view>& words) {
    if (words.size() != 6) return refuse(fmt::format("an input has 6 words, here are {}", words.size()));
    TracedResult result;
    result.node = words[1];
    PTERUN_TRY(read_tensor(words[2], words[3], words[4], words[5], result));
    keep(std::move(result));
    return {};
  }

  Result<void> read_result(const std::vector<std::string_view>& words) {
    if (words.size() != 9) return refuse(fmt::format("a result has 9 words, here are {}", words.size()));
    TracedResult result;
    result.node = words[1];
    result.target = words[2];
    if (words[4] != "-") result.module = words[4];
    PTERUN_TRY(read_tensor(words[3], words[5], words[6], words[7], result));
    for (const std::string_view name : split(words[8], ',')) {
      const auto found = by_node_.find(std::string(name));
      if (found == by_node_.end()) continue;
      result.reads.insert(result.reads.end(), found->second.begin(), found->second.end());
    }
    keep(std::move(result));
    return {};
  }

  Result<void> read_tensor(std::string_view item_word, std::string_view dtype_word, std::string_view shape_word,
                           std::string_view offset_word, TracedResult& result) const {
    const auto item = number(item_word);
    const auto dtype = io::safetensors_dtype(dtype_word);
    const auto shape = shape_of(shape_word);
    const auto offset = number(offset_word);
    if (!item || !dtype || !shape || !offset) return refuse("a number, dtype or shape cannot be read");
    const auto nbytes = io::tensor_nbytes(*dtype, *shape);
    const Bytes data = trace_.data.bytes();
    if (!nbytes || !range_fits(*offset, *nbytes, data.size())) {
      return refuse(fmt::format("{}{} at byte {} is outside the {} bytes of data", dtype_name(*dtype),
                                shape->to_string(), *offset, data.size()));
    }
    if (*offset % dtype_size(*dtype) != 0) {
      return refuse(fmt::format("byte {} is no place for {}", *offset, dtype_name(*dtype)));
    }
    result.item = static_cast<std::size_t>(*item);
    result.tensor = Tensor(*dtype, *shape, const_cast<std::byte*>(data.data() + *offset));
    auto bools = io::check_bools(result.tensor, file_, result.node);
    if (!bools) return refuse(bools.error().message);
    return {};
  }

  void keep(TracedResult result) {
    std::vector<std::size_t>& siblings = by_node_[result.node];
    result.shares_node = !siblings.empty();
    for (const std::size_t sibling : siblings)
      trace_.results[sibling].shares_node = true;
    siblings.push_back(trace_.results.size());
    trace_.results.push_back(std::move(result));
  }

  EagerTrace& trace_;
  std::string file_;
  std::size_t line_ = 0;
  std::map<std::string, std::vector<std::size_t>> by_node_;
};

}  // namespace

std::string TracedResult::describe() const {
  if (is_input()) return fmt::format("{} (input {})", node, item);
  return fmt::format("{} ({}{}{})", node, target, module.empty() ? "" : " in " + module,
                     shares_node ? fmt::format(", result {}", item) : "");
}

Result<EagerTrace> read_eager_trace(const std::string& folder) {
  EagerTrace trace;
  auto lines = MappedFile::open(folder + "/trace.txt");
  if (!lines) return fail(make_error(ErrorCode::kReference, lines.error().message));
  auto data = MappedFile::open(folder + "/trace.bin");
  if (!data) return fail(make_error(ErrorCode::kReference, data.error().message));
  trace.data = *std::move(data);
  const Bytes text = lines->bytes();
  Reader reader(trace, lines->path());
  PTERUN_TRY(reader.read({reinterpret_cast<const char*>(text.data()), text.size()}));
  return trace;
}

}  // namespace pterun::reference
