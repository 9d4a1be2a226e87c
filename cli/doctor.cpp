// What this machine and this program have, and what each absence costs.

#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <hwy/targets.h>
#include <nlohmann/json.hpp>

#include <thalweg/base/env.h>
#include <thalweg/base/text.h>
#include <thalweg/base/threads.h>
#include <thalweg/data/sets.h>
#include <thalweg/device/device.h>

#include "base/cpus.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/version.h"

namespace thalweg::cli {
namespace {

struct Finding {
  std::string name;
  bool found = true;
  std::string detail;     // what was found, or why not
  std::string cost = {};  // of the absence
  std::string remedy = {};
};

// The value of `key` in a file of lines "key : value".
std::string value_in(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const size_t begin = line.find_first_not_of(" \t", line.find(':') + 1);
    if (begin != std::string::npos) return line.substr(begin);
  }
  return "";
}

Finding processor() {
  const std::string model = value_in("/proc/cpuinfo", "model name");
  return {"processor", true,
          fmt::format("{}, {} cores for this process", model.empty() ? "unknown" : model,
                      usable_cores(allowed_cpus()))};
}

Finding simd() {
  const int64_t targets = hwy::SupportedTargets();
  const int64_t best = targets & -targets;  // Highway's best target is its lowest bit
  Finding finding{"simd", true, hwy::TargetName(best)};
  if (best > HWY_AVX2) {
    finding.found = false;
    finding.cost = "kernels run at a half to an eighth of what AVX2 or AVX-512 would give";
    finding.remedy = "a newer processor";
  }
  return finding;
}

Finding threads() {
  std::string source = "one for each core";
  for (const char* name : {"OMP_NUM_THREADS", "THALWEG_THREADS"}) {
    if (const auto value = env_string(name)) source = fmt::format("{}={}", name, *value);
  }
  return {"threads", true, fmt::format("{} ({})", num_threads(), source)};
}

Finding memory() {
  const auto bytes = [](const std::string& kibibytes) {
    return kibibytes.empty() ? std::string("unknown") : format_bytes(std::stoull(kibibytes) * 1024);
  };
  return {"memory", true,
          fmt::format("{}, {} of them free", bytes(value_in("/proc/meminfo", "MemTotal")),
                      bytes(value_in("/proc/meminfo", "MemAvailable")))};
}

Finding library(const char* name, const char* version, const char* cost, const char* remedy) {
  const std::string text = version;
  if (!text.empty()) return {name, true, text};
  return {name, false, "this program was built without it", cost, remedy};
}

Finding cuda() {
  Finding finding = library("cuda", kCudaVersion, "everything runs on the CPU",
                            "install the CUDA 13 toolkit and build again");
  if (!finding.found) return finding;
  try {
    require_available(Device::cuda());
    finding.detail += fmt::format(", {} GPUs; kernels for dense nets so far, see docs/cuda.md",
                                  device_count(DeviceKind::cuda));
  } catch (const Error& error) {
    finding.found = false;
    finding.detail = error.what();
    finding.remedy = "a machine with an NVIDIA GPU and its driver";
    finding.cost = "everything runs on the CPU";
  }
  return finding;
}

Finding data_set(const char* name, data::Dataset (*open)(data::ImageSetOptions), const char* cost,
                 const char* remedy) {
  try {
    const data::Dataset set = open({});
    return {name, true, fmt::format("{} samples to train on", set.size())};
  } catch (const Error& error) {
    return {name, false, error.what(), cost, remedy};
  }
}

std::vector<Finding> examine() {
  return {processor(),
          simd(),
          threads(),
          memory(),
          library("libxsmm", kLibxsmmVersion,
                  "small products and convolutions run on other kernels, 2 to 80 times slower",
                  "scripts/setup, and build again"),
          library("onednn", kOnednnVersion,
                  "large products, bf16 and convolutions run on our own kernels, slower",
                  "scripts/setup, and build again"),
          library("libjpeg", kJpegVersion, "JPEG pictures cannot be read",
                  "install libjpeg62-turbo-dev, and build again"),
          library("libpng", kPngVersion, "PNG pictures cannot be read",
                  "install libpng-dev, and build again"),
          library("zstd", kZstdVersion, "files packed by zstd cannot be read",
                  "install libzstd-dev, and build again"),
          cuda(),
          data_set("fashion_mnist", data::fashion_mnist, "recipes train on drawn digits instead",
                   "install Debian's dataset-fashion-mnist, or set THALWEG_DATA"),
          data_set("mnist", data::mnist, "recipes with it do not run",
                   "put its four IDX files into $THALWEG_DATA/mnist")};
}

}  // namespace

int run_doctor(const DoctorOptions& options) {
  const std::vector<Finding> findings = examine();
  if (options.json) {
    nlohmann::ordered_json object = {{"version", kVersion}};
    for (const Finding& finding : findings) {
      object[finding.name] = {{"found", finding.found}, {"detail", finding.detail}};
      if (finding.found) continue;
      object[finding.name]["cost"] = finding.cost;
      object[finding.name]["remedy"] = finding.remedy;
    }
    fmt::print("{}\n", object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    return kExitOk;
  }
  fmt::print("thalweg {}\n", kVersion);
  for (const Finding& finding : findings) {
    fmt::print("{:<15} {:<4} {}\n", finding.name, finding.found ? "yes" : "no", finding.detail);
    if (finding.found) continue;
    fmt::print("{:<20} without it: {}\n{:<20} to get it: {}\n", "", finding.cost, "",
               finding.remedy);
  }
  return kExitOk;
}

}  // namespace thalweg::cli
