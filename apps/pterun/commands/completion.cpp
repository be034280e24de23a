// pterun completion: scripts for shells, and the manual page.
#include "pterun/completion/completion.h"

#include <fmt/format.h>

#include "base/suggest.h"
#include "base/utf8.h"
#include "pterun/catalogue.h"
#include "pterun/commands/commands.h"

namespace pterun::app {

Result<int> completion_command(Invocation& invocation) {
  PTERUN_ASSIGN(const backend::BackendRegistry registry, make_backend_registry());
  CompletionWords words;
  for (const std::string& name : registry.names()) {
    for (const options::OptionSpec& spec : registry.find(name)->option_table().specs) {
      words.options.push_back(name + "." + spec.key);
    }
  }
  const std::string& shell = *invocation.find("SHELL");
  const auto text = completion_text(shell, commands(), words);
  if (!text) {
    static constexpr std::string_view kShells[] = {"bash", "zsh", "fish", "man"};
    return fail(make_error(ErrorCode::kUsage, "expected bash, zsh, fish or man, found " + in_quotes(shell))
                    .with_hint(did_you_mean(shell, kShells)));
  }
  fmt::print("{}", *text);
  return 0;
}

}  // namespace pterun::app
