# What we build ourselves, and from which commits. FetchContent takes them from the upstream repositories;
# scripts/setup unpacks the same commits from Debian's source packages and hands the folders over in
# FETCHCONTENT_SOURCE_DIR_<NAME>. docs/decisions/0001-xnnpack-build.md says why these.
include(FetchContent)
set(FETCHCONTENT_QUIET ON)

set(PTERUN_XNNPACK_VERSION "2024-11-08 (4ea82e5)")

FetchContent_Declare(fxdiv
  GIT_REPOSITORY https://github.com/Maratyszcza/FXdiv.git
  GIT_TAG b408327ac2a15ec3e43352421954f5b1967701d1)
FetchContent_Declare(cpuinfo
  GIT_REPOSITORY https://github.com/pytorch/cpuinfo.git
  GIT_TAG 877328f188a3c7d1fa855871a278eb48d530c4c0)
FetchContent_Declare(pthreadpool
  GIT_REPOSITORY https://github.com/Maratyszcza/pthreadpool.git
  GIT_TAG 0e6ca13779b57d397a5ba6bfdcaa8a275bc8ea2e)
FetchContent_Declare(xnnpack
  GIT_REPOSITORY https://github.com/google/XNNPACK.git
  GIT_TAG 4ea82e595b36106653175dcb04b2aa532660d0d8)
FetchContent_Declare(catch2
  GIT_REPOSITORY https://github.com/catchorg/Catch2.git
  GIT_TAG fa43b77429ba76c462b1898d6cd2f2d7a9416b14)
