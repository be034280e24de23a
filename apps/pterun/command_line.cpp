// The parser: CLI11 splits, the flags come from the commands' own lists. CLI11 is used here and nowhere else.
#include "pterun/command_line.h"

#include <algorithm>
#include <map>
#include <memory>

#include <CLI/CLI.hpp>

#include "base/suggest.h"
#include "base/utf8.h"

namespace pterun::app {
namespace {

// The CLI11 side of one command.
struct Bound {
  const Command* command = nullptr;
  CLI::App* app = nullptr;
  std::vector<config::FlagSpec> flags;
  std::map<const CLI::Option*, const config::FlagSpec*> specs;
};

std::string_view first_word(std::string_view name) {
  return name.substr(0, name.find(' '));
}

std::string_view last_word(std::string_view name) {
  return name.substr(name.rfind(' ') + 1);
}

void prepare(CLI::App& app) {
  app.set_help_flag();
  app.add_flag("-h,--help");
  app.allow_extras();
  app.require_subcommand(0, 1);
}

void add_flags(Bound& bound) {
  for (const config::FlagSpec& spec : bound.flags) {
    std::string names(spec.name);
    if (!spec.short_name.empty()) names = std::string(spec.short_name) + "," + names;
    CLI::Option* option = nullptr;
    if (spec.is_switch()) {
      option = bound.app->add_flag(names);
    } else {
      option = bound.app->add_option(names, [](const CLI::results_t&) { return true; });
      option->allow_extra_args(false);
    }
    // Repetition is judged by whoever reads the values, with better words.
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    if (spec.is_positional() && spec.repeatable) option->expected(-1);
    bound.specs.emplace(option, &spec);
  }
}

Error usage(std::string message, std::string hint) {
  return make_error(ErrorCode::kUsage, std::move(message)).with_hint(std::move(hint));
}

std::string help_hint(std::string_view command) {
  return "`pterun " + std::string(command) + (command.empty() ? "" : " ") + "--help` lists what there is";
}

Error unknown_argument(const std::string& text, const Bound& bound) {
  const std::string command(bound.command->name);
  if (!text.starts_with('-')) {
    return usage("pterun " + command + ": unexpected argument " + in_quotes(text), help_hint(command));
  }
  std::vector<std::string_view> names = {"--help"};
  for (const config::FlagSpec& spec : bound.flags) {
    if (!spec.is_positional()) names.push_back(spec.name);
  }
  const std::string_view flag = std::string_view(text).substr(0, text.find('='));
  const std::string suggestion = did_you_mean(flag, names);
  return usage("pterun " + command + ": unknown flag " + in_quotes(flag),
               suggestion.empty() ? help_hint(command) : suggestion);
}

Error unknown_command(const std::string& text, std::string_view group, std::span<const Command> commands) {
  std::vector<std::string_view> names;
  for (const Command& command : commands) {
    if (group.empty()) names.push_back(first_word(command.name));
    if (!group.empty() && first_word(command.name) == group) names.push_back(last_word(command.name));
  }
  names.erase(std::ranges::unique(names).begin(), names.end());
  std::string known;
  for (const std::string_view name : names)
    known += (known.empty() ? "" : ", ") + std::string(name);
  const std::string what = group.empty() ? "command" : "command of `pterun " + std::string(group) + "`";
  const std::string suggestion = did_you_mean(text, names);
  if (text.empty()) return usage("expected a " + what + " (" + known + "), found none", help_hint(group));
  return usage("expected a " + what + " (" + known + "), found " + in_quotes(text),
               suggestion.empty() ? help_hint(group) : suggestion);
}

// CLI11's own refusals: a value that is missing, or that a switch was given.
Error parse_failure(const CLI::ParseError& failure, const std::vector<std::string>& argv, const Bound* bound) {
  if (bound != nullptr && !argv.empty()) {
    const std::string& last = argv.back();
    for (const config::FlagSpec& spec : bound->flags) {
      if (spec.is_switch() || spec.is_positional()) continue;
      if (last != spec.name && last.substr(0, last.find('=')) != spec.name) continue;
      return usage(std::string(spec.name) + ": expected a value (" + std::string(spec.argument) + "), found none",
                   help_hint(bound->command->name));
    }
  }
  return usage(failure.what(), help_hint(bound == nullptr ? "" : bound->command->name));
}

Result<void> check_required(const Bound& bound) {
  for (const auto& [option, spec] : bound.specs) {
    if (!spec->required || option->count() != 0) continue;
    return fail(usage("pterun " + std::string(bound.command->name) + ": expected " + std::string(spec->name) + " (" +
                          std::string(spec->doc) + "), found nothing",
                      help_hint(bound.command->name)));
  }
  return {};
}

// Values in the order of the command line.
void collect_values(const Bound& bound, Invocation& invocation) {
  std::map<const CLI::Option*, std::size_t> used;
  for (const CLI::Option* option : bound.app->parse_order()) {
    const auto found = bound.specs.find(option);
    if (found == bound.specs.end()) continue;
    const std::size_t index = used[option]++;
    const CLI::results_t& results = option->results();
    invocation.flags.push_back({std::string(found->second->name), index < results.size() ? results[index] : ""});
  }
}

class Parser {
 public:
  explicit Parser(std::span<const Command> commands);
  Result<ParsedCommandLine> parse(const std::vector<std::string>& argv);

 private:
  Bound* parsed_command();
  CLI::App* parsed_group();

  std::span<const Command> commands_;
  CLI::App app_{"", "pterun"};
  CLI::Option* version_ = nullptr;
  std::vector<std::unique_ptr<Bound>> bound_;
  std::map<std::string_view, CLI::App*> groups_;
};

Parser::Parser(std::span<const Command> commands) : commands_(commands) {
  prepare(app_);
  version_ = app_.add_flag("-V,--version");
  for (const Command& command : commands) {
    auto bound = std::make_unique<Bound>();
    bound->command = &command;
    bound->flags = command.flags();
    CLI::App* parent = &app_;
    const std::string_view group = first_word(command.name);
    if (group != command.name) {
      if (!groups_.contains(group)) {
        groups_[group] = app_.add_subcommand(std::string(group));
        prepare(*groups_[group]);
      }
      parent = groups_[group];
    }
    bound->app = parent->add_subcommand(std::string(last_word(command.name)));
    prepare(*bound->app);
    add_flags(*bound);
    bound_.push_back(std::move(bound));
  }
}

Bound* Parser::parsed_command() {
  for (const auto& bound : bound_) {
    if (bound->app->parsed()) return bound.get();
  }
  return nullptr;
}

CLI::App* Parser::parsed_group() {
  for (const auto& [name, group] : groups_) {
    if (group->parsed()) return group;
  }
  return nullptr;
}

Result<ParsedCommandLine> Parser::parse(const std::vector<std::string>& argv) {
  // CLI11 wants the arguments reversed and without the program's name.
  std::vector<std::string> arguments(argv.rbegin(), argv.empty() ? argv.rend() : argv.rend() - 1);
  try {
    app_.parse(std::move(arguments));
  } catch (const CLI::ParseError& failure) {
    return fail(parse_failure(failure, argv, parsed_command()));
  }

  ParsedCommandLine result;
  result.invocation.argv = argv;
  Bound* bound = parsed_command();
  CLI::App* group = parsed_group();
  if (bound != nullptr) {
    result.command = bound->command;
    result.invocation.command = bound->command->name;
  } else if (group != nullptr) {
    result.group = group->get_name();
  }
  const CLI::App* innermost = bound != nullptr ? bound->app : group != nullptr ? group : &app_;
  if (innermost->count("--help") != 0 || app_.count("--help") != 0) {
    result.kind = ParsedCommandLine::Kind::kHelp;
    return result;
  }
  if (version_->count() != 0) {
    result.kind = ParsedCommandLine::Kind::kVersion;
    return result;
  }
  const std::vector<std::string> extra = innermost->remaining();
  if (bound == nullptr) return fail(unknown_command(extra.empty() ? "" : extra.front(), result.group, commands_));
  if (!extra.empty()) return fail(unknown_argument(extra.front(), *bound));
  PTERUN_TRY(check_required(*bound));
  collect_values(*bound, result.invocation);
  return result;
}

}  // namespace

Result<ParsedCommandLine> parse_command_line(std::span<const Command> commands, const std::vector<std::string>& argv) {
  return Parser(commands).parse(argv);
}

}  // namespace pterun::app
