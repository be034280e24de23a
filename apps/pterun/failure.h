// What the user sees of an error: text on stderr, and a JSON report when one was asked for.
#pragma once

#include <string>

#include "base/error.h"
#include "pterun/command.h"
#include "pterun/session/output_files.h"
#include "report/run_report.h"

namespace pterun::app {

// "error[option_value]: MESSAGE", a line for each place that the message does not name, and the hint.
std::string error_text(const Error& error, bool color);
// Whether stderr takes colour: a terminal, and NO_COLOR is unset or empty.
bool stderr_has_color();

// The report of a command that ended with an error before it had one of its own.
report::RunReport error_report(const Invocation& invocation, const Error& error);
// Writes a report that holds the error and nothing else to every file of invocation.output that can be opened (one
// that the command line names twice is left alone: it may be an input), and prints what goes wrong with the others.
void write_error_reports(const Invocation& invocation, const Error& error);

// For a Deadline: prints the error and writes it to the reports that were asked for.
void report_expiry(const Invocation& invocation, const Error& error, OutputFiles& files);

// The files that flags name: those of the report formats, and --events.
config::OutputPlan outputs_of(const std::vector<config::FlagValue>& flags);
// What can be told of a command line that could not be parsed: the command, and the files of the output flags that the
// command has, or of all where it is not known.
Invocation guess_invocation(const std::vector<std::string>& argv);

}  // namespace pterun::app
