// Simulated timings of a noisy machine: log-normal runs, a level of its own for every process, drift over the whole
// measurement, and outliers upwards. Times are in nanoseconds.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "bench/statistics.h"

namespace pterun::bench {

struct Noise {
  double run = 0.03;            // standard deviation of the logarithm of one run
  double process = 0.01;        // of the level of a process
  double drift = 0.10;          // share by which everything slows down from the first block to the last
  double outliers = 0.02;       // share of runs that take two to six times as long
  double slow_processes = 0.0;  // share of processes that are a tenth slower as a whole
};

class SimulatedMachine {
 public:
  SimulatedMachine(Noise noise, std::uint64_t seed) : noise_(noise), random_(seed) {}

  // The median of `runs` runs of one process; `progress` is how much of the whole measurement has passed, 0 to 1.
  double process_median(double true_ns, double progress, std::size_t runs) {
    const double slow = uniform() < noise_.slow_processes ? 1.1 : 1.0;
    const double level = true_ns * slow * std::exp(noise_.process * normal()) * (1 + noise_.drift * progress);
    std::vector<double> times;
    for (std::size_t i = 0; i < runs; ++i) {
      const double outlier = uniform() < noise_.outliers ? 2 + 4 * uniform() : 1;
      times.push_back(level * std::exp(noise_.run * normal()) * outlier);
    }
    return median(std::move(times));
  }

  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  // Box and Muller, so that the numbers are the same with every standard library.
  double normal() { return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(6.283185307179586 * uniform()); }

 private:
  Noise noise_;
  std::mt19937_64 random_;
};

// Two cells measured in `blocks` blocks, in random order inside each.
struct SimulatedPair {
  std::vector<double> candidate_ns;
  std::vector<double> baseline_ns;
};
inline SimulatedPair simulate_pair(SimulatedMachine& machine, double true_ratio, std::size_t blocks, std::size_t runs) {
  SimulatedPair pair;
  const auto slots = static_cast<double>(2 * blocks);
  for (std::size_t block = 0; block < blocks; ++block) {
    const bool candidate_first = machine.uniform() < 0.5;
    const auto at = [&](bool first) { return (2.0 * static_cast<double>(block) + (first ? 0 : 1)) / slots; };
    pair.candidate_ns.push_back(machine.process_median(1e6 * true_ratio, at(candidate_first), runs));
    pair.baseline_ns.push_back(machine.process_median(1e6, at(!candidate_first), runs));
  }
  return pair;
}

}  // namespace pterun::bench
