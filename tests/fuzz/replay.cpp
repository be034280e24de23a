// Runs a fuzz target over seed files without libFuzzer: each file as it is, then mutated copies of it.
// usage: replay_<name> FILE|FOLDER...   PTERUN_FUZZ_SEED=N chooses other mutations, PTERUN_FUZZ_RUNS=N how many a file.
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

bool is_seed(const fs::path& path) {
  const std::string ending = path.extension().string();
  return (ending == ".pte" || ending == ".bpte" || ending == ".ptd") && fs::file_size(path) <= kMaxSeedBytes;
}

std::vector<fs::path> find_seeds(int argc, char** argv) {
  std::vector<fs::path> seeds;
  for (int i = 1; i < argc; ++i) {
    if (!fs::is_directory(argv[i])) {
      seeds.emplace_back(argv[i]);
      continue;
    }
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(argv[i])) {
      if (entry.is_regular_file() && is_seed(entry.path())) seeds.push_back(entry.path());
    }
  }
  std::sort(seeds.begin(), seeds.end());
  return seeds;
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
  const unsigned long runs = setting("PTERUN_FUZZ_RUNS", 300);
  const std::vector<fs::path> seeds = find_seeds(argc, argv);
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
