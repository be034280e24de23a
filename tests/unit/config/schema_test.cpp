// The published JSON Schema and the table of settings say the same names.
#include <set>
#include <string>

#include <catch2/catch_test_macros.hpp>

#include "config/document.h"
#include "config/settings.h"

namespace {

using namespace pterun;
using namespace pterun::config;

// JSON pointers of the schema's properties, down to those that have no closed list of properties of their own.
void collect(const Node& object, const std::string& prefix, std::set<std::string>& pointers) {
  const Node* properties = object.find("properties");
  for (std::size_t i = 0; i < properties->names.size(); ++i) {
    const Node& property = properties->items[i];
    const Node* closed = property.find("additionalProperties");
    const std::string pointer = prefix + "/" + properties->names[i];
    if (property.find("properties") != nullptr && closed != nullptr && closed->is(Node::Kind::kBool)) {
      collect(property, pointer, pointers);
    } else {
      pointers.insert(pointer);
    }
  }
}

}  // namespace

TEST_CASE("the schema of configs names exactly the settings of the table") {
  const auto schema = load_document(PTERUN_CONFIG_SCHEMA);
  REQUIRE(schema);
  std::set<std::string> published;
  collect(*schema, "", published);
  std::set<std::string> known;
  for (const SettingRow& row : setting_rows()) {
    if (!row.pointer.empty()) known.insert(std::string(row.pointer));
  }
  CHECK(published == known);
}

TEST_CASE("every flag has one meaning and a description") {
  for (const Command command : {Command::kRun, Command::kBench, Command::kInspect, Command::kOptions}) {
    std::set<std::string_view> names;
    for (const FlagSpec& flag : plan_flags(command)) {
      CAPTURE(flag.name);
      CHECK(names.insert(flag.name).second);
      CHECK_FALSE(flag.doc.empty());
      CHECK(find_flag(command, flag.name)->flag.name == flag.name);
      CHECK((flag.hint == ValueHint::kChoices) == !flag.choices.empty());
    }
  }
}
