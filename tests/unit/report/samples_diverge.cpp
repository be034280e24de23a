#include "samples_diverge.h"

namespace pterun::report {

DivergeReport sample_diverge_from_pt2() {
  DivergeNode node;
  node.method = "forward";
  node.instruction = 1;
  node.delegate = 0;
  node.node = 2;
  node.name = "Conv2d";
  node.output = "float32[1, 6, 6, 8]";
  node.reference = "relu (aten.relu.default)";
  node.max_abs = 0.5;
  node.largest = 2;
  node.allowed = 1.25e-4;
  node.pass = false;
  node.arithmetic = DivergeArithmetic{1e-7, 1e-5, true};
  DivergeReport report;
  report.reference = "net.pt2 (float eager, PyTorch 2.13.0)";
  report.compared = 6;
  report.diverging = 1;
  report.first = node;
  report.inputs_file = "net.diverge.npz";
  report.command = "pterun run net.pte --diverge --reference eager:net.pt2";
  report.worst = {node};
  report.skipped = {{"aten.topk.default", "results of the .pt2 above 2 GiB in all", 1}};
  report.mapping = DivergeMapping{
      9, 5, 1, false, "max_pool2d (aten.max_pool2d.default)", "relu (aten.relu.default)", "", DivergeCause::kProgram,
      7, 0};
  return report;
}

}  // namespace pterun::report
