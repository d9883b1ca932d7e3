// runtime/cores.cpp - affinity masks and the quotas of control groups.
#include "runtime/cores.h"

#include <unistd.h>
#if defined(__linux__)
#include <sched.h>
#endif

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>

namespace shardax::runtime {

int cores_of_affinity() {
#if defined(__linux__)
  for (int cores = 1024; cores <= 1 << 16; cores *= 4) {
    cpu_set_t* set = CPU_ALLOC(cores);
    if (!set) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(cores);
    CPU_ZERO_S(bytes, set);
    const bool fits = sched_getaffinity(0, bytes, set) == 0;
    const int count = fits ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (fits) return std::max(count, 1);
  }
#endif
  return std::max(static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)), 1);
}

namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

// Version 2: "quota period" or "max period" in one file.
double quota_of_version_2(const std::string& folder) {
  std::ifstream file(folder + "/cpu.max");
  double quota = 0, period = 0;
  return file >> quota >> period && quota > 0 && period > 0 ? quota / period : unlimited;
}

// Version 1: two files; a quota of -1 is none.
double quota_of_version_1(const std::string& folder) {
  std::ifstream quota_file(folder + "/cpu.cfs_quota_us");
  std::ifstream period_file(folder + "/cpu.cfs_period_us");
  double quota = 0, period = 0;
  const bool given = quota_file >> quota && period_file >> period;
  return given && quota > 0 && period > 0 ? quota / period : unlimited;
}

// The least quota of `group` and its parents. In a container the path may be the host's, and only
// the mounted root exist: missing folders grant everything.
double least_quota(const std::string& root, std::string group,
                   double (*quota)(const std::string& folder)) {
  double least = unlimited;
  while (!group.empty() && group != "/") {
    least = std::min(least, quota(root + group));
    group.erase(group.rfind('/'));
  }
  return std::min(least, quota(root));
}

// Lines are "hierarchy:controllers:/path"; version 2 has the hierarchy 0 and names none.
double cores_of_groups() {
  double least = unlimited;
  std::ifstream file("/proc/self/cgroup");
  for (std::string entry; std::getline(file, entry);) {
    const std::size_t first = entry.find(':');
    const std::size_t second = entry.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    // The list of controllers between commas, so that each name has one on both sides.
    std::string controllers = entry.substr(first, second - first + 1);
    std::replace(controllers.begin(), controllers.end(), ':', ',');
    const std::string group = entry.substr(second + 1);
    if (controllers == ",,") {
      least = std::min(least, least_quota("/sys/fs/cgroup", group, quota_of_version_2));
    } else if (controllers.find(",cpu,") != std::string::npos) {
      least = std::min(least, least_quota("/sys/fs/cgroup/cpu", group, quota_of_version_1));
    }
  }
  return least;
}

}  // namespace

int usable_cores() {
  const int cores = cores_of_affinity();
  const double granted = std::ceil(cores_of_groups());
  return granted < cores ? std::max(static_cast<int>(granted), 1) : cores;
}

}  // namespace shardax::runtime
