// Where the library says things that are no errors: a sink given by the caller. The library itself never prints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pterun {

// A thing the user should know, with what to do about it. `code` is stable, snake_case ("no_delegate").
struct Warning {
  std::string code;
  std::string message;
  std::string hint;
};

class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void warn(Warning warning) = 0;
  // Detail for -v; off by default.
  virtual void detail(std::string_view) {}
};

// Keeps warnings in order; for tests and for the report.
class CollectingLog final : public LogSink {
 public:
  void warn(Warning warning) override { warnings.push_back(std::move(warning)); }
  std::vector<Warning> warnings;
};

}  // namespace pterun
