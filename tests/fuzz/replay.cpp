// Runs a fuzz target over seed files without libFuzzer: each file as it is, then mutated copies of it.
// usage: replay_<name> [--runs N] FILE|FOLDER... [--ending .EXT FOLDER]...   N mutations a file; with --ending only the
// files of that folder whose names end so. PTERUN_FUZZ_SEED=N chooses other mutations, PTERUN_FUZZ_RUNS=N overrides
// --runs.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

// Larger files cost time and hold weights, which no reader looks into.
constexpr std::uintmax_t kMaxSeedBytes = 64 * 1024;

void add_seeds(const fs::path& place, const std::string& ending, std::vector<fs::path>& seeds) {
  if (!fs::is_directory(place)) {
    seeds.push_back(place);
    return;
  }
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(place)) {
    const bool wanted = ending.empty() || entry.path().extension() == ending;
    if (wanted && entry.is_regular_file() && entry.file_size() <= kMaxSeedBytes) seeds.push_back(entry.path());
  }
}

struct Arguments {
  unsigned long runs = 300;
  std::vector<fs::path> seeds;
};

Arguments read_arguments(int argc, char** argv) {
  Arguments arguments;
  std::string ending;
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    if (text == "--runs" && i + 1 < argc) {
      arguments.runs = std::strtoul(argv[++i], nullptr, 10);
    } else if (text == "--ending" && i + 1 < argc) {
      ending = argv[++i];
    } else {
      add_seeds(text, ending, arguments.seeds);
      ending.clear();
    }
  }
  std::sort(arguments.seeds.begin(), arguments.seeds.end());
  return arguments;
}

unsigned long setting(const char* name, unsigned long otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoul(text, nullptr, 10) : otherwise;
}

// One to four changes: a byte, a 32-bit word with a value that offsets and counts trip over, or the length.
std::vector<std::uint8_t> mutate(std::vector<std::uint8_t> bytes, std::mt19937& random) {
  constexpr std::uint32_t kWords[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff0, 0x00010000, 4};
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random()) % bound; };
  for (std::size_t change = 0, changes = 1 + below(4); change < changes && bytes.size() >= 8; ++change) {
    switch (below(8)) {
      case 0: bytes.resize(below(bytes.size())); break;
      case 1:
      case 2:
      case 3: bytes[below(bytes.size())] = static_cast<std::uint8_t>(random()); break;
      default: {
        const std::size_t at = below(bytes.size() / 4) * 4;
        const std::uint32_t word = kWords[below(std::size(kWords))];
        for (std::size_t i = 0; i < 4 && at + i < bytes.size(); ++i) {
          bytes[at + i] = static_cast<std::uint8_t>(word >> (8 * i));
        }
      }
    }
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned long seed = setting("PTERUN_FUZZ_SEED", 1);
  const Arguments arguments = read_arguments(argc, argv);
  const std::vector<fs::path>& seeds = arguments.seeds;
  const unsigned long runs = setting("PTERUN_FUZZ_RUNS", arguments.runs);
  if (seeds.empty()) {
    std::fprintf(stderr, "no seed files\n");
    return 1;
  }
  std::printf("%zu seed files, %lu mutations of each, PTERUN_FUZZ_SEED=%lu\n", seeds.size(), runs, seed);
  for (const fs::path& path : seeds) {
    std::printf("%s\n", path.filename().c_str());
    std::fflush(stdout);
    std::ifstream file(path, std::ios::binary);
    const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    // A generator of its own for each file: a new seed file does not change what the others become.
    std::mt19937 random(static_cast<std::uint32_t>(seed));
    for (unsigned long run = 0; run < runs; ++run) {
      const std::vector<std::uint8_t> mutated = mutate(bytes, random);
      LLVMFuzzerTestOneInput(mutated.data(), mutated.size());
    }
  }
  return 0;
}
