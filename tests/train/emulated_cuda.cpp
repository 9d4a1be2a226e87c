// A CUDA device that is not there: its memory is the host's, and kernels are compiled by the host's
// compiler. A test program that has this among its sources is linked with it in place of what the
// library has for CUDA's runtime. It shows that kernels and the host's half of them compute what
// they should, and nothing of a GPU's own ways: no order of threads but one, no limits, no speed.

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/fail.h"
#include "device/backend.h"
#include "device/cuda.h"
#include "kernels/cuda/launch.h"

namespace thalweg {
namespace {

using Work = std::vector<std::function<void()>>;
Work* g_captured = nullptr;
size_t g_live = 0;

void do_or_capture(std::function<void()> work) {
  g_captured ? g_captured->push_back(std::move(work)) : work();
}

void refuse_in_capture(const char* what) {
  if (g_captured) fail(ErrorKind::internal, "emulated: {} in a capture", what);
}

// Garbage, so that nothing works by chance.
void* allocate(Device, size_t bytes) {
  refuse_in_capture("an allocation");
  if (bytes == 0) return nullptr;
  void* data = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(data, 0x7f, bytes);
  g_live += bytes;
  return data;
}

void release(Device, void* data, size_t bytes) noexcept {
  std::memset(data, 0x6e, bytes);
  std::free(data);
  g_live -= bytes;
}

void copy(Device to, void* destination, Device from, const void* source, size_t bytes) {
  if (to != from) refuse_in_capture("a copy that waits");
  do_or_capture([=] { std::memmove(destination, source, bytes); });
}

void put(Device, void* destination, const void* source, size_t bytes) {
  refuse_in_capture("a copy from the host");
  std::memcpy(destination, source, bytes);
}

MemoryStats stats(Device) {
  MemoryStats s;
  s.live = g_live;
  return s;
}

class EmulatedGraph final : public LaunchGraph {
 public:
  void launch() override {
    for (const auto& work : work_) work();
  }
  Work work_;
};

/// A kernel in a library that was made of its source.
struct Compiled {
  void (*run)(const void* argument, unsigned columns, unsigned rows) = nullptr;
  size_t argument_bytes = 0;
};

// The library is made under a name of its own first: tests run side by side.
std::string library_of(const std::string& source) {
  const std::string stem =
      fmt::format("{}/kernel_{:x}", THALWEG_EMULATED_KERNELS, std::hash<std::string>()(source));
  if (std::filesystem::exists(stem + ".so")) return stem + ".so";
  std::filesystem::create_directories(THALWEG_EMULATED_KERNELS);
  const std::string own = fmt::format("{}.{}", stem, getpid());
  std::ofstream(own + ".cpp")
      << "#include \"train/emulated_kernel.h\"\n"
      << source
      << "extern \"C\" void run(const void* a, unsigned x, unsigned y) {\n"
         "  emulated::run<kernel>(a, x, y);\n}\n"
         "extern \"C\" size_t argument_bytes() { return emulated::Call<kernel>::kBytes; }\n";
  const std::string command = fmt::format(
      "{0} -std=c++20 -O1 -ffp-contract=off -w -shared -fPIC -I{1}/src -I{1}/include -I{1}/tests "
      "{2}.cpp -o {2}.so",
      THALWEG_COMPILER, THALWEG_SOURCE_FOLDER, own);
  if (std::system(command.c_str()) != 0)
    fail(ErrorKind::internal, "emulated: this does not compile:\n{}", source);
  std::filesystem::rename(own + ".so", stem + ".so");
  return stem + ".so";
}

Compiled* load(const std::string& source) {
  static std::map<std::string, Compiled> known;
  Compiled& kernel = known[source];
  if (kernel.run) return &kernel;
  void* library = dlopen(library_of(source).c_str(), RTLD_NOW | RTLD_LOCAL);
  THALWEG_ASSERT(library);
  kernel.run = reinterpret_cast<decltype(kernel.run)>(dlsym(library, "run"));
  kernel.argument_bytes = reinterpret_cast<size_t (*)()>(dlsym(library, "argument_bytes"))();
  return &kernel;
}

}  // namespace

// --- what device/cuda.cpp and device/cuda_graph.cpp have ---

std::unique_ptr<LaunchGraph> cuda_capture(Device, FunctionRef<void()> work) {
  auto graph = std::make_unique<EmulatedGraph>();
  g_captured = &graph->work_;
  struct End {
    ~End() { g_captured = nullptr; }
  } const end;
  work();
  return graph;
}

void check_cuda(cudaError_t status, const char* call, Device) {
  if (status != cudaSuccess) fail(ErrorKind::internal, "{}: status {}", call, int{status});
}

cudaStream_t cuda_stream(Device) { return nullptr; }

const DeviceBackend& cuda_backend() {
  static constexpr DeviceBackend backend = {[](const char**) { return 1; },
                                            allocate,
                                            release,
                                            copy,
                                            stats,
                                            [](Device) {},
                                            [](Device) {},
                                            cuda_capture,
                                            put};
  return backend;
}

// --- what kernels/cuda/launch.cpp has ---
namespace cuda {

cudaKernel_t JitKernel::make(Device, const std::string& source) {
  const auto kernel = reinterpret_cast<cudaKernel_t>(load(source));
  handle_.store(kernel);
  return kernel;
}

void launch(Device, cudaKernel_t kernel, dim3 blocks, const void* argument) {
  const Compiled& compiled = *reinterpret_cast<const Compiled*>(kernel);
  const auto* bytes = static_cast<const char*>(argument);
  const std::vector<char> copied(bytes, bytes + compiled.argument_bytes);
  do_or_capture([=] { compiled.run(copied.data(), blocks.x, blocks.y); });
}

// Few, so that loops go round.
unsigned blocks_for(Device, int64_t count) {
  return static_cast<unsigned>(std::min<int64_t>((count + kThreads - 1) / kThreads, 3));
}

}  // namespace cuda
}  // namespace thalweg
