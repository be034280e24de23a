// POSIX mapping of a file and page advice on parts of it.
#include "base/mapped_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pterun {
namespace {

Error open_error(const std::string& path, const std::string& reason) {
  return program_error(ErrorCode::kAccessFailed, "cannot open '" + path + "': " + reason).at("file", path);
}

// Bytes of address space behind a file of `size` bytes: whole pages and one more.
std::size_t mapped_size(std::size_t size) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return round_up(size, page) + page;
}

struct Descriptor {
  int fd;
  ~Descriptor() { ::close(fd); }
};

// Whole pages inside [range.begin, range.end): advice must not touch neighbours' bytes.
std::span<std::byte> inner_pages(const std::byte* base, std::size_t size, Bytes range) {
  if (range.data() < base || range.data() + range.size() > base + size) return {};
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t begin = round_up(static_cast<std::size_t>(range.data() - base), page);
  const std::size_t end = static_cast<std::size_t>(range.data() - base + range.size()) / page * page;
  if (end <= begin) return {};
  return {const_cast<std::byte*>(base) + begin, end - begin};
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return fail(open_error(path, std::strerror(errno)));
  const Descriptor closer{fd};
  struct stat status{};
  if (::fstat(fd, &status) != 0) return fail(open_error(path, std::strerror(errno)));
  if (S_ISDIR(status.st_mode)) return fail(open_error(path, "it is a directory, not a file"));
  if (!S_ISREG(status.st_mode)) return fail(open_error(path, "it is not a regular file"));
  MappedFile file;
  file.path_ = path;
  file.size_ = static_cast<std::size_t>(status.st_size);
  if (file.size_ == 0) return file;
  // One anonymous page behind the file: kernels may read a whole vector past a constant that ends the file.
  void* region = ::mmap(nullptr, mapped_size(file.size_), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void* address =
      region == MAP_FAILED ? MAP_FAILED : ::mmap(region, file.size_, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0);
  if (address == MAP_FAILED) {
    const std::string reason = std::strerror(errno);
    if (region != MAP_FAILED) ::munmap(region, mapped_size(file.size_));
    file.size_ = 0;
    return fail(open_error(path, "cannot map it: " + reason));
  }
  file.data_ = static_cast<const std::byte*>(address);
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), mapped_size(size_));
}

void MappedFile::release_pages(Bytes range) const {
  const auto pages = inner_pages(data_, size_, range);
  if (!pages.empty()) ::madvise(pages.data(), pages.size(), MADV_DONTNEED);
}

void MappedFile::will_need(Bytes range) const {
  const auto pages = inner_pages(data_, size_, range);
  if (!pages.empty()) ::madvise(pages.data(), pages.size(), MADV_WILLNEED);
}

}  // namespace pterun
