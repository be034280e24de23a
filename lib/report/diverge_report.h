// What `pterun run --diverge` found, as plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pterun::report {

// What the interpreter says of a node's arithmetic, from the inputs that it had.
struct DivergeArithmetic {
  double max_abs = 0;
  double allowed = 0;
  bool pass = true;
};

// One operator or delegate's node, and how far its result is from the reference's.
struct DivergeNode {
  std::size_t step = 0;
  std::string method;
  std::size_t instruction = 0;  // index in the method's chain
  std::optional<std::size_t> delegate;
  std::optional<std::size_t> node;  // index in the delegate's list of nodes
  std::string name;                 // "aten::add.out", "Conv2d"
  std::string output;               // "float32[1, 8, 6, 6]"
  std::string reference;            // the operator of a .pt2 that it was compared with; empty: itself
  double max_abs = 0;
  double largest = 0;  // largest |want|
  double allowed = 0;  // its share of the tolerance
  bool pass = true;
  std::optional<DivergeArithmetic> arithmetic;  // beside a `reference`, of nodes of delegates
};

// Whose fault a divergence from a .pt2 is.
enum class DivergeCause : std::uint8_t {
  kNone,     // there is none
  kProgram,  // the node computes what the program says: that is something else than the .pt2 says
  kKernel,   // the node's own arithmetic is off
  kUnknown,  // operators outside delegates are not computed a second time
};

// A program and the .pt2 it was made from need not have the same operators: results are paired by content.
struct DivergeMapping {
  std::size_t traced = 0;         // results of the .pt2's operators
  std::size_t mapped = 0;         // results that equal one of them
  std::size_t unmapped = 0;       // results without a counterpart that only right values follow from
  bool outputs_agree = true;      // as the comparisons say
  std::string last_agreeing;      // operator or input of the .pt2 before the divergence; empty: not known
  std::string first_disagreeing;  // operator of the .pt2 at the divergence; empty: none, or not to be told
  std::string through;            // last of the results that together stand for it; empty: the first alone
  DivergeCause cause = DivergeCause::kNone;
  std::size_t arithmetic_compared = 0;  // nodes of delegates that the interpreter judged, and those it found off
  std::size_t arithmetic_diverging = 0;
};

// Nodes that could not be compared, by name.
struct DivergeSkipped {
  std::string name;
  std::string reason;
  std::size_t count = 0;
};

struct DivergeReport {
  std::string reference;          // "the interpreter", "m.pt2 (float eager, PyTorch 2.13.0)"
  bool watching_changed = false;  // outputs of the watched run differ from those of the run
  double watching_max_abs = 0;    // by how much
  std::size_t compared = 0;
  std::size_t diverging = 0;
  std::optional<DivergeNode> first;  // the first that exceeds its share
  std::string inputs_file;           // its inputs, its result ("got") and the reference's ("want")
  std::string command;               // runs it again
  std::vector<DivergeNode> worst;    // by share of what is allowed, largest first
  std::vector<DivergeSkipped> skipped;
  std::optional<DivergeMapping> mapping;  // of a .pt2: `compared` counts results that were compared with one of its
};

}  // namespace pterun::report
