// JSON documents with comments: lines, pointers, duplicates, UTF-8.
#include "config/document.h"

#include <catch2/catch_test_macros.hpp>

namespace {

using namespace pterun;
using namespace pterun::config;

Error error_of(std::string_view text) {
  auto parsed = parse_document(text, "c.json");
  REQUIRE_FALSE(parsed);
  return std::move(parsed).error();
}

}  // namespace

TEST_CASE("every value knows its line and JSON pointer") {
  const auto root = parse_document(
      "// a comment\n"
      "{ \"a\": 1,\n"
      "  \"b\": {\"c/d\": [true,\n"
      "     \"x\" /* inside */ , 2.5\n"
      "  ], \"e~f\": null},\n"
      "  \"g\": -7\n"
      "}\n",
      "c.json");
  REQUIRE(root);
  CHECK(root->find("a")->origin.describe() == "c.json:/a (line 2)");
  const Node* b = root->find("b");
  CHECK(b->origin.line == 3);
  const Node* array = b->find("c/d");
  REQUIRE(array->items.size() == 3);
  CHECK(array->items[0].origin.describe() == "c.json:/b/c~1d/0 (line 3)");
  CHECK(array->items[1].origin.line == 4);
  CHECK(array->items[2].origin.describe() == "c.json:/b/c~1d/2 (line 4)");
  CHECK(b->find("e~f")->origin.describe() == "c.json:/b/e~0f (line 5)");
  CHECK(root->find("g")->origin.line == 6);
  CHECK(root->find("g")->integer == -7);
  CHECK(root->find("h") == nullptr);
}

TEST_CASE("numbers keep the kind that they were written as") {
  const auto root =
      parse_document(R"([1, 1.0, 1e2, 9223372036854775807, 9223372036854775808, 123456789012345678901])", "c.json");
  REQUIRE(root);
  CHECK(root->items[0].is(Node::Kind::kInteger));
  CHECK(root->items[1].is(Node::Kind::kFloat));
  CHECK(root->items[2].is(Node::Kind::kFloat));
  CHECK(root->items[3].integer == INT64_MAX);
  CHECK_FALSE(root->items[3].huge);
  CHECK(root->items[4].is(Node::Kind::kInteger));
  CHECK(root->items[4].huge);
  CHECK(root->items[5].huge);
  CHECK(root->items[5].text == "123456789012345678901");
  CHECK(root->items[0].describe() == "the integer 1");
  CHECK(root->items[1].describe() == "the float 1.0");
}

TEST_CASE("text that is not JSON names file and line") {
  for (const std::string_view text : {"", "{", "{\"a\": }", "{\"a\": 1,}", "[1 2]", "{} x", "nul",
                                      "{\"a\": \"\\ud800\"}", "\"abc", "{a: 1}", "1e999"}) {
    CAPTURE(text);
    const Error error = error_of(text);
    CHECK(error.code == ErrorCode::kConfig);
    CHECK(error.where.at("file") == "c.json");
    CHECK(exit_code(error) == 2);
  }
  CHECK(error_of("{\n\n\"a\": }").where.at("line") == "3");
}

TEST_CASE("a name twice in one object is an error, but not inside option maps") {
  const Error error = error_of("{\"threads\": 1,\n\"threads\": 2}");
  CHECK(error.code == ErrorCode::kConfig);
  CHECK(error.where.at("pointer") == "/threads");
  CHECK(error.where.at("line") == "2");
  CHECK(error_of(R"({"load_options": {}, "load_options": {}})").code == ErrorCode::kConfig);

  for (const std::string text :
       {R"({"load_options": {"B": {"k": 1, "k": 2}}})", R"({"global_options": {"B": {}, "B": {}}})",
        R"({"profiles": {"p": {"load_options": {"B": {"k": 1, "k": 2}}}}})"}) {
    CAPTURE(text);
    CHECK(parse_document(text, "c.json"));
  }
}

TEST_CASE("bytes that are not UTF-8 are a config error, inside an option map an option_type error that names it") {
  CHECK(error_of("{\"model\": \"\xff\"}").code == ErrorCode::kConfig);
  CHECK(error_of("{} // \xff").code == ErrorCode::kConfig);

  const Error error = error_of("{\"load_options\":\n{\"Backend\": {\"key\": \"a\xff\"}}}");
  CHECK(error.code == ErrorCode::kOptionType);
  CHECK(error.where.at("option") == "Backend.key");
  CHECK(error.where.at("source") == "c.json:/load_options/Backend/key (line 2)");
  CHECK(error.message.find("Backend.key") != std::string::npos);
}

TEST_CASE("deep nesting is refused, not run into") {
  CHECK(error_of(std::string(100000, '[')).code == ErrorCode::kConfig);
  CHECK(parse_document(std::string(60, '[') + std::string(60, ']'), "c.json"));
}

TEST_CASE("a node prints as the JSON that it came from") {
  const std::string text = R"({"a": [1, 2.5, "x\"y", null, true], "b": {}})";
  CHECK(parse_document(text, "c.json")->to_json() == text);
}

TEST_CASE("a file that cannot be read is a config error") {
  const auto missing = load_document("no/such/file.json");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::kConfig);
  CHECK(exit_code(missing.error()) == 2);
  CHECK(missing.error().where.at("file") == "no/such/file.json");
  CHECK(load_document(".").error().code == ErrorCode::kConfig);
}
