// Names and default blame of the error codes, and the one-line text of an Error.
#include "base/error.h"

namespace pterun {

std::string_view error_code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInternal: return "Internal";
    case ErrorCode::kInvalidState: return "InvalidState";
    case ErrorCode::kEndOfMethod: return "EndOfMethod";
    case ErrorCode::kAlreadyLoaded: return "AlreadyLoaded";
    case ErrorCode::kNotSupported: return "NotSupported";
    case ErrorCode::kNotImplemented: return "NotImplemented";
    case ErrorCode::kInvalidArgument: return "InvalidArgument";
    case ErrorCode::kInvalidType: return "InvalidType";
    case ErrorCode::kOperatorMissing: return "OperatorMissing";
    case ErrorCode::kRegistrationExceedingMaxKernels: return "RegistrationExceedingMaxKernels";
    case ErrorCode::kRegistrationAlreadyRegistered: return "RegistrationAlreadyRegistered";
    case ErrorCode::kNotFound: return "NotFound";
    case ErrorCode::kMemoryAllocationFailed: return "MemoryAllocationFailed";
    case ErrorCode::kAccessFailed: return "AccessFailed";
    case ErrorCode::kInvalidProgram: return "InvalidProgram";
    case ErrorCode::kInvalidExternalData: return "InvalidExternalData";
    case ErrorCode::kOutOfResources: return "OutOfResources";
    case ErrorCode::kDelegateInvalidCompatibility: return "DelegateInvalidCompatibility";
    case ErrorCode::kDelegateMemoryAllocationFailed: return "DelegateMemoryAllocationFailed";
    case ErrorCode::kDelegateInvalidHandle: return "DelegateInvalidHandle";
    case ErrorCode::kUsage: return "usage";
    case ErrorCode::kConfig: return "config";
    case ErrorCode::kOutput: return "output";
    case ErrorCode::kOptionType: return "option_type";
    case ErrorCode::kOptionValue: return "option_value";
    case ErrorCode::kUnknownBackend: return "unknown_backend";
    case ErrorCode::kOptionSyntax: return "option_syntax";
    case ErrorCode::kUnknownOption: return "unknown_option";
    case ErrorCode::kOptionPath: return "option_path";
    case ErrorCode::kDuplicateOption: return "duplicate_option";
    case ErrorCode::kInput: return "input";
    case ErrorCode::kReference: return "reference";
    case ErrorCode::kMismatch: return "mismatch";
    case ErrorCode::kEvidence: return "evidence";
    case ErrorCode::kGate: return "gate";
    case ErrorCode::kBug: return "internal";
    case ErrorCode::kInterrupted: return "interrupted";
  }
  return "internal";
}

Blame default_blame(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidProgram:
    case ErrorCode::kInvalidExternalData:
    case ErrorCode::kOperatorMissing:
    case ErrorCode::kDelegateInvalidCompatibility: return Blame::kProgram;
    case ErrorCode::kUsage:
    case ErrorCode::kConfig:
    case ErrorCode::kOutput:
    case ErrorCode::kOptionType:
    case ErrorCode::kOptionValue:
    case ErrorCode::kUnknownBackend:
    case ErrorCode::kOptionSyntax:
    case ErrorCode::kUnknownOption:
    case ErrorCode::kOptionPath:
    case ErrorCode::kDuplicateOption: return Blame::kUsage;
    case ErrorCode::kInput:
    case ErrorCode::kReference: return Blame::kInput;
    case ErrorCode::kMismatch: return Blame::kOutputs;
    case ErrorCode::kEvidence: return Blame::kEvidence;
    case ErrorCode::kGate: return Blame::kGate;
    case ErrorCode::kBug: return Blame::kBug;
    case ErrorCode::kInterrupted: return Blame::kInterrupted;
    case ErrorCode::kInternal:
    case ErrorCode::kInvalidState:
    case ErrorCode::kEndOfMethod:
    case ErrorCode::kAlreadyLoaded:
    case ErrorCode::kNotSupported:
    case ErrorCode::kNotImplemented:
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kInvalidType:
    case ErrorCode::kRegistrationExceedingMaxKernels:
    case ErrorCode::kRegistrationAlreadyRegistered:
    case ErrorCode::kNotFound:
    case ErrorCode::kMemoryAllocationFailed:
    case ErrorCode::kAccessFailed:
    case ErrorCode::kOutOfResources:
    case ErrorCode::kDelegateMemoryAllocationFailed:
    case ErrorCode::kDelegateInvalidHandle: return Blame::kRuntime;
  }
  return Blame::kBug;
}

Error::Error() = default;
Error::Error(ErrorCode error_code, Blame who, std::string text)
    : code(error_code), blame(who), message(std::move(text)) {}
Error::Error(const Error& other) = default;
Error::Error(Error&& other) noexcept = default;
Error& Error::operator=(const Error& other) = default;
Error& Error::operator=(Error&& other) noexcept = default;
Error::~Error() = default;

Error&& Error::at(std::string kind, std::string place) && {
  where.try_emplace(std::move(kind), std::move(place));
  return std::move(*this);
}

Error&& Error::with_hint(std::string text) && {
  hint = std::move(text);
  return std::move(*this);
}

Error&& Error::with_blame(Blame who) && {
  blame = who;
  return std::move(*this);
}

std::string Error::to_string() const {
  std::string text(error_code_name(code));
  text += ": ";
  text += message;
  std::string places;
  for (const auto& [kind, place] : where) {
    places += places.empty() ? " (" : ", ";
    places += kind + " " + place;
  }
  if (!places.empty()) text += places + ")";
  if (!hint.empty()) text += "; " + hint;
  return text;
}

Error make_error(ErrorCode code, std::string message) {
  return Error(code, default_blame(code), std::move(message));
}

Error program_error(ErrorCode code, std::string message) {
  return Error(code, Blame::kProgram, std::move(message));
}

}  // namespace pterun
