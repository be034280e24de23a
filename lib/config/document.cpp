// A SAX handler that builds Nodes. The library tells no positions for values, so the text is given to it through an
// iterator that counts what it has consumed.
#include "config/document.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/mapped_file.h"
#include "base/utf8.h"
#include "options/option_request.h"

namespace pterun::config {
namespace {

constexpr std::size_t kMaxFileBytes = 16u << 20;
constexpr std::size_t kMaxDepth = 64;  // nodes are destroyed recursively

// Forward iterator over text that counts the bytes read through all its copies.
class CountingIterator {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator() = default;
  CountingIterator(const char* at, std::size_t* consumed) : at_(at), consumed_(consumed) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    ++*consumed_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.at_ == b.at_; }

 private:
  const char* at_ = nullptr;
  std::size_t* consumed_ = nullptr;
};

// Where the parser stands: the open containers, outermost first, and the tokens that lead to the next value.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  Builder(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  std::size_t* consumed() { return &consumed_; }
  std::optional<Error>& error() { return error_; }
  Node take_root() { return std::move(root_); }

  bool null() override { return add(Node()); }
  bool boolean(bool value) override { return add(Node::make_bool(value, {})); }
  bool number_integer(number_integer_t value) override { return add(Node::make_integer(value, {})); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= static_cast<number_unsigned_t>(INT64_MAX)) {
      return add(Node::make_integer(static_cast<std::int64_t>(value), {}));
    }
    return add(huge_integer(static_cast<double>(value), std::to_string(value)));
  }
  bool number_float(number_float_t value, const string_t& text) override {
    // The library makes floats of integers that no 64 bits hold.
    if (text.find_first_of(".eE") == std::string::npos) return add(huge_integer(value, text));
    return add(Node::make_number(value, text, {}));
  }
  bool string(string_t& text) override { return add(Node::make_string(text, {})); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Node::make_object({})); }
  bool start_array(std::size_t) override { return open(Node::make_array({})); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    const bool twice = std::ranges::find(open_.back()->names, name) != open_.back()->names.end();
    key_ = name;
    if (!twice || in_option_map()) return true;
    error_ = setting_error(here(), "the name " + in_quotes(name) + " stands twice in one object, expected once");
    return false;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& exception) override {
    const std::size_t bad_byte = find_invalid_utf8(text_);
    if (bad_byte < consumed_) {
      error_ = utf8_error(bad_byte);
      return false;
    }
    // "[json.exception.parse_error.101] parse error at line 3, column 5: syntax error ..."
    std::string_view what = exception.what();
    const std::size_t detail = what.find(": ");
    if (detail != std::string_view::npos) what.remove_prefix(detail + 2);
    error_ = setting_error(here(), "this is not JSON: " + printable(what, 300));
    return false;
  }

  Error utf8_error(std::size_t bad_byte) const {
    Origin origin = here();
    origin.line = line_at(bad_byte);
    const std::string found = "found bytes that are not UTF-8 at offset " + std::to_string(bad_byte);
    if (!in_option_map()) return setting_error(origin, "expected UTF-8, " + found);
    const std::size_t backend = path_.front() == "profiles" ? 3 : 1;
    const auto token = [&](std::size_t i) {
      return i < path_.size() ? path_[i] : i == path_.size() ? key_ : std::string();
    };
    const std::string name = options::option_name(token(backend), token(backend + 1));
    return make_error(ErrorCode::kOptionType,
                      "option " + name + " (" + origin.describe() + "): expected text in UTF-8, " + found)
        .at("option", name)
        .at("source", origin.describe());
  }

 private:
  static Node huge_integer(double value, std::string digits) {
    Node node = Node::make_number(value, std::move(digits), {});
    node.kind = Node::Kind::kInteger;
    node.huge = true;
    return node;
  }

  std::size_t line_at(std::size_t offset) const {
    return 1 + static_cast<std::size_t>(
                   std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
  }

  // Origin of the value being read. The last byte consumed belongs to it, or to a number's line end.
  Origin here() const {
    Origin origin;
    origin.kind = Origin::Kind::kConfig;
    origin.source = file_;
    for (const std::string& token : path_)
      origin.pointer += "/" + pointer_token(token);
    if (!open_.empty()) origin.pointer += "/" + pointer_token(next_token());
    origin.line =
        line_ + static_cast<std::size_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(counted_),
                                                    text_.begin() + static_cast<std::ptrdiff_t>(last_byte()), '\n'));
    return origin;
  }

  std::size_t last_byte() const { return std::max(counted_, consumed_ == 0 ? 0 : consumed_ - 1); }

  std::string next_token() const {
    return open_.back()->is(Node::Kind::kArray) ? std::to_string(open_.back()->items.size()) : key_;
  }

  // Whether the value being read lies below an object of options.
  bool in_option_map() const {
    const std::size_t at = !path_.empty() && path_.front() == "profiles" ? 2 : 0;
    return at < path_.size() && (path_[at] == "global_options" || path_[at] == "load_options");
  }

  bool add(Node node) {
    node.origin = here();
    line_ = node.origin.line;
    counted_ = last_byte();
    if (open_.empty()) {
      root_ = std::move(node);
      return true;
    }
    Node& parent = *open_.back();
    if (parent.is(Node::Kind::kObject)) parent.names.push_back(key_);
    parent.items.push_back(std::move(node));
    return true;
  }

  bool open(Node node) {
    if (open_.size() >= kMaxDepth) {
      error_ = setting_error(here(), "values are nested more than " + std::to_string(kMaxDepth) + " deep");
      return false;
    }
    const bool root = open_.empty();
    std::string token = root ? std::string() : next_token();
    add(std::move(node));
    if (!root) path_.push_back(std::move(token));
    // Stays valid while open: only the innermost container grows.
    open_.push_back(root ? &root_ : &open_.back()->items.back());
    return true;
  }

  bool close() {
    open_.pop_back();
    if (!path_.empty()) path_.pop_back();
    return true;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t consumed_ = 0;
  std::size_t counted_ = 0;  // bytes whose line ends are in line_
  std::size_t line_ = 1;
  Node root_;
  std::vector<Node*> open_;
  std::vector<std::string> path_;
  std::string key_;
  std::optional<Error> error_;
};

}  // namespace

Error setting_error(const Origin& origin, const std::string& detail) {
  const bool from_file = origin.kind == Origin::Kind::kConfig;
  Error error = make_error(from_file ? ErrorCode::kConfig : ErrorCode::kUsage, origin.describe() + ": " + detail)
                    .at("source", origin.describe());
  if (from_file) {
    error.where.try_emplace("file", origin.source);
    error.where.try_emplace("pointer", origin.pointer.empty() ? "/" : origin.pointer);
    if (origin.line != 0) error.where.try_emplace("line", std::to_string(origin.line));
  }
  return error;
}

Result<Node> parse_document(std::string_view text, const std::string& file) {
  Builder builder(text, file);
  const CountingIterator begin(text.data(), builder.consumed());
  const CountingIterator end(text.data() + text.size(), builder.consumed());
  const bool parsed = nlohmann::json::sax_parse(begin, end, &builder, nlohmann::json::input_format_t::json, true, true);
  if (builder.error()) return fail(*std::move(builder.error()));
  if (!parsed) return fail(ErrorCode::kConfig, file + ": this is not JSON");
  const std::size_t bad_byte = find_invalid_utf8(text);
  if (bad_byte != std::string_view::npos) return fail(builder.utf8_error(bad_byte));
  return builder.take_root();
}

Result<Node> load_document(const std::string& path) {
  auto file = MappedFile::open(path);
  if (!file) {
    Error error = std::move(file).error();
    error.code = ErrorCode::kConfig;
    error.blame = Blame::kUsage;
    return fail(std::move(error).at("file", path));
  }
  const Bytes bytes = file->bytes();
  if (bytes.size() > kMaxFileBytes) {
    return fail(make_error(ErrorCode::kConfig,
                           path + ": a config has at most 16 MiB, found " + std::to_string(bytes.size()) + " bytes")
                    .at("file", path));
  }
  return parse_document({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

Node parse_value(const std::string& text, const Origin& origin) {
  auto parsed = parse_document(text, origin.source);
  if (!parsed) return Node::make_string(text, origin);
  const auto adopt = [&](auto& self, Node& node) -> void {
    node.origin = origin;
    for (Node& item : node.items)
      self(self, item);
  };
  adopt(adopt, *parsed);
  return *std::move(parsed);
}

}  // namespace pterun::config
