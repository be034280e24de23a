// What `pterun run --diverge` found, as plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pterun::report {

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
};

}  // namespace pterun::report
