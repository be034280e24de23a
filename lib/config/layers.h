// The layers that a plan is merged from: what the flags say, and what the config files, --set and the environment say.
// Options are taken out of the trees as requests, because they are checked with their sources.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/make_plan.h"
#include "config/node.h"
#include "config/plan.h"
#include "options/option_request.h"

namespace pterun::config {

struct Layer {
  Node root = Node::make_object({});
  std::vector<options::OptionRequest> requests;
};

// What the flags say about the config itself.
struct ConfigChoice {
  std::string path;                    // "" without --config
  std::string profile;                 // "" without --config-profile
  std::vector<std::string> overrides;  // texts of --set
  bool print = false;
};

struct FlagLayer {
  Layer layer;
  ConfigChoice config;
};

// Errors: kUsage for a flag that is unknown to the command, given twice, or whose text is not what its row takes;
// kOptionSyntax.
Result<FlagLayer> make_flag_layer(Command command, const std::vector<FlagValue>& flags);

// Reads `choice.path` and the files it extends, applies the profile and --set. Paths in it become relative to the
// working directory. `shadowed` gets what was overridden on the way. Without a path there are only the overrides.
// Errors: kConfig, kUsage (--set), and the option codes for a malformed option map.
Result<Layer> make_config_layer(const ConfigChoice& choice, std::vector<Shadowed>& shadowed);

// Puts `over` on top of `base`: objects member by member, anything else replaces, null takes a value away. In a
// tolerance, element bounds and metric bounds replace each other. `pointer` is where both stand, "" for whole trees.
void merge(Node& base, const Node& over, const std::string& pointer, std::vector<Shadowed>* shadowed);

// Whether --input SPEC generates its value, that is, names no file; whether --reference SPEC is one tensor file or
// exported program, which fits one method only.
bool is_generator(std::string_view spec);
bool is_reference_of_one_method(std::string_view spec);

}  // namespace pterun::config
