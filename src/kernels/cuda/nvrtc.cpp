#include "kernels/cuda/nvrtc.h"

#include <vector>

#include <nvrtc.h>

#include "base/fail.h"
#include "kernels/cuda/dynamic_library.h"
#include "kernels/cuda/sources.h"

namespace thalweg::cuda {
namespace {

struct Nvrtc {
  DynamicLibrary library{"libnvrtc.so.13"};
  decltype(&nvrtcCreateProgram) create = nullptr;
  decltype(&nvrtcDestroyProgram) destroy = nullptr;
  decltype(&nvrtcCompileProgram) compile = nullptr;
  decltype(&nvrtcGetProgramLogSize) log_size = nullptr;
  decltype(&nvrtcGetProgramLog) log = nullptr;
  decltype(&nvrtcGetPTXSize) ptx_size = nullptr;
  decltype(&nvrtcGetPTX) ptx = nullptr;
  decltype(&nvrtcGetCUBINSize) binary_size = nullptr;
  decltype(&nvrtcGetCUBIN) binary = nullptr;
  decltype(&nvrtcGetErrorString) text = nullptr;

  Nvrtc() {
    library.find(create, "nvrtcCreateProgram");
    library.find(destroy, "nvrtcDestroyProgram");
    library.find(compile, "nvrtcCompileProgram");
    library.find(log_size, "nvrtcGetProgramLogSize");
    library.find(log, "nvrtcGetProgramLog");
    library.find(ptx_size, "nvrtcGetPTXSize");
    library.find(ptx, "nvrtcGetPTX");
    library.find(binary_size, "nvrtcGetCUBINSize");
    library.find(binary, "nvrtcGetCUBIN");
    library.find(text, "nvrtcGetErrorString");
  }
};

const Nvrtc& nvrtc() {
  static const Nvrtc instance;
  return instance;
}

void check(nvrtcResult status, const char* call) {
  if (status != NVRTC_SUCCESS) fail(ErrorKind::internal, "{}: {}", call, nvrtc().text(status));
}

/// One program, destroyed in the end.
class Program {
 public:
  explicit Program(const std::string& source) {
    std::vector<const char*> names, texts;
    for (const DeviceSource& s : device_sources()) {
      names.push_back(s.name);
      texts.push_back(s.text);
    }
    check(nvrtc().create(&program_, source.c_str(), "kernel.cu", static_cast<int>(names.size()),
                         texts.data(), names.data()),
          "nvrtcCreateProgram");
  }
  ~Program() { nvrtc().destroy(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void compile(const std::string& architecture) {
    const std::string target = "--gpu-architecture=" + architecture;
    // Products and sums are not fused: + and * give the bits that they give on the cpu.
    const char* const options[] = {target.c_str(), "--std=c++20",
                                   "--device-as-default-execution-space", "--fmad=false",
                                   "--no-source-include"};
    const nvrtcResult status = nvrtc().compile(program_, std::size(options), options);
    if (status == NVRTC_SUCCESS) return;
    fail(ErrorKind::internal, "cuda: a kernel does not compile for {}: {}\n{}", architecture,
         nvrtc().text(status), log());
  }
  std::string code(bool binary) const {
    size_t size = 0;
    check(binary ? nvrtc().binary_size(program_, &size) : nvrtc().ptx_size(program_, &size),
          "nvrtcGetPTXSize");
    std::string code(size, '\0');
    check(binary ? nvrtc().binary(program_, code.data()) : nvrtc().ptx(program_, code.data()),
          "nvrtcGetPTX");
    return code;
  }

 private:
  std::string log() const {
    size_t size = 0;
    if (nvrtc().log_size(program_, &size) != NVRTC_SUCCESS) return "";
    std::string text(size, '\0');
    if (nvrtc().log(program_, text.data()) != NVRTC_SUCCESS) return "";
    return text.c_str();
  }

  nvrtcProgram program_ = nullptr;
};

}  // namespace

const char* why_no_compiler() { return nvrtc().library.why_missing(); }

std::string compile(const std::string& source, const std::string& architecture) {
  if (const char* why = why_no_compiler())
    fail(ErrorKind::unavailable, "cuda: kernels cannot be compiled; {}", why);
  Program program(source);
  program.compile(architecture);
  return program.code(architecture.starts_with("sm_"));
}

std::string kernel_source(const char* header, const char* args, const std::string& call) {
  return fmt::format(
      "#include \"kernels/cuda/device/{}.cuh\"\n"
      "using namespace thalweg;\n"
      "using namespace thalweg::cuda;\n"
      "extern \"C\" __global__ void {}(const __grid_constant__ {} args) {{\n"
      "  {}(args);\n"
      "}}\n",
      header, kKernelName, args, call);
}

const char* element_type(DType dtype) {
  constexpr const char* names[kDTypes] = {
      "float",   "double",  "thalweg::Float16", "thalweg::BFloat16", "int64_t",
      "int32_t", "int16_t", "int8_t",           "uint8_t",           "bool"};
  return names[static_cast<int>(dtype)];
}

}  // namespace thalweg::cuda
