// What `run --diverge` may have found, made by hand.
#pragma once

#include "report/diverge_report.h"

namespace pterun::report {

// Against a .pt2: one convolution with another weight, and a result that stands for no operator of its own.
DivergeReport sample_diverge_from_pt2();

}  // namespace pterun::report
