#include "kernels/cuda/cublas.h"

#include <bit>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <thalweg/device/memory.h>

#include "base/fail.h"
#include "device/cuda.h"
#include "kernels/cuda/cublas_library.h"

namespace thalweg::cuda {
namespace {

// Advised for Hopper; smaller GPUs want less.
constexpr size_t kWorkspaceBytes = size_t{32} << 20;
constexpr int kMostDevices = 64;

// --- the problem as cuBLASLt sees it ---

/// A column-major operand, perhaps to be transposed.
struct Operand {
  int64_t rows, columns, leading;
  int64_t transposed;
  int64_t batch_step;  // in elements
  int64_t alignment;   // of the address, in bytes, up to 256

  auto operator<=>(const Operand&) const = default;
};

/// Row-major results are the columns of the transposed product: their first operand is b, their
/// second is a.
struct Problem {
  int64_t device, dtype, m, n, k, batches, has_bias;
  Operand b, a, out;

  auto operator<=>(const Problem&) const = default;
};

int64_t alignment_of(const void* data) {
  const auto address = reinterpret_cast<uintptr_t>(data);
  return address == 0 ? 256 : std::min(256, 1 << std::min(8, std::countr_zero(address)));
}

/// The transposed of a row-major [rows, columns] with strides in elements; false if neither
/// direction's elements are neighbours without overlaps.
bool describe(Operand& operand, int64_t rows, int64_t columns, int64_t row_stride,
              int64_t column_stride) {
  const bool by_rows = columns == 1 || column_stride == 1;
  const bool by_columns = rows == 1 || row_stride == 1;
  if (by_rows && (rows == 1 || row_stride >= columns)) {
    operand = {columns, rows, rows == 1 ? columns : row_stride, 0, 0, 0};
    return true;
  }
  if (by_columns && (columns == 1 || column_stride >= rows)) {
    operand = {rows, columns, columns == 1 ? rows : column_stride, 1, 0, 0};
    return true;
  }
  return false;
}

const char* make_problem(Problem& p, Device device, DType dtype, const ProductArgs& args) {
  const auto bytes = static_cast<int64_t>(item_size(dtype));
  if (!is_floating(dtype)) return "it takes floating elements";
  if (args.m == 0 || args.n == 0 || args.k == 0) return "there are no elements";
  if (args.batches.dims != 1) return "the matrices have no one distance";
  if (args.bias && dtype == DType::f64) return "it adds no f64 bias";
  if (args.bias && args.n > 1 && args.bias_step != bytes) return "the bias has gaps";
  if (args.bias && alignment_of(args.bias) < 16) return "the bias is not aligned to 16 bytes";
  constexpr int64_t kMost = int64_t{1} << 31;
  if (args.m >= kMost || args.n >= kMost || args.k >= kMost || args.batches.count >= kMost)
    return "a dimension is too large";
  p = {};
  p.device = device.index;
  p.dtype = static_cast<int64_t>(dtype);
  p.m = args.m;
  p.n = args.n;
  p.k = args.k;
  p.batches = args.batches.count;
  p.has_bias = args.bias != nullptr;
  if (!describe(p.a, args.m, args.k, args.a_row / bytes, args.a_column / bytes) ||
      !describe(p.b, args.k, args.n, args.b_row / bytes, args.b_column / bytes))
    return "the elements of an operand are no neighbours";
  p.out = {args.n, args.m, args.n, 0, 0, alignment_of(args.out)};
  p.a.alignment = alignment_of(args.a);
  p.b.alignment = alignment_of(args.b);
  if (args.batches.count > 1) {
    p.out.batch_step = args.batches.strides[0][0] / bytes;
    p.a.batch_step = args.batches.strides[0][1] / bytes;
    p.b.batch_step = args.batches.strides[0][2] / bytes;
  }
  return nullptr;
}

// --- what is made of it, once ---

/// How cuBLASLt makes a product, or why it does not.
struct Plan {
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t b = nullptr, a = nullptr, out = nullptr;
  cublasLtMatmulAlgo_t algorithm = {};
  std::string refusal;
};

/// Gathers the first failure of a row of calls.
class Calls {
 public:
  void operator()(cublasStatus_t status, const char* call) {
    if (status != CUBLAS_STATUS_SUCCESS && text_.empty())
      text_ = fmt::format("{}: {}", call, CublasLt::get().text(status));
  }
  bool good() const { return text_.empty(); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

cudaDataType_t data_type(DType dtype) {
  return dtype == DType::f64   ? CUDA_R_64F
         : dtype == DType::f32 ? CUDA_R_32F
         : dtype == DType::f16 ? CUDA_R_16F
                               : CUDA_R_16BF;
}

cublasLtMatrixLayout_t make_layout(Calls& check, const Operand& operand, cudaDataType_t type,
                                   int64_t batches) {
  const CublasLt& lt = CublasLt::get();
  cublasLtMatrixLayout_t layout = nullptr;
  check(lt.make_layout(&layout, type, static_cast<uint64_t>(operand.rows),
                       static_cast<uint64_t>(operand.columns), operand.leading),
        "cublasLtMatrixLayoutCreate");
  if (!check.good() || batches == 1) return layout;
  const auto count = static_cast<int32_t>(batches);
  check(lt.set_layout(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
        "cublasLtMatrixLayoutSetAttribute");
  check(lt.set_layout(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &operand.batch_step,
                      sizeof operand.batch_step),
        "cublasLtMatrixLayoutSetAttribute");
  return layout;
}

void make_operation(Calls& check, Plan& plan, const Problem& p) {
  const CublasLt& lt = CublasLt::get();
  const bool is_f64 = static_cast<DType>(p.dtype) == DType::f64;
  check(lt.make_operation(&plan.operation, is_f64 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F,
                          is_f64 ? CUDA_R_64F : CUDA_R_32F),
        "cublasLtMatmulDescCreate");
  if (!check.good()) return;
  const auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
    check(lt.set_operation(plan.operation, attribute, &value, sizeof value),
          "cublasLtMatmulDescSetAttribute");
  };
  set(CUBLASLT_MATMUL_DESC_TRANSA, p.b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(CUBLASLT_MATMUL_DESC_TRANSB, p.a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
  if (p.has_bias) set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
}

void find_algorithm(Calls& check, Plan& plan, const Problem& p, cublasLtHandle_t handle) {
  const CublasLt& lt = CublasLt::get();
  cublasLtMatmulPreference_t preference = nullptr;
  check(lt.make_preference(&preference), "cublasLtMatmulPreferenceCreate");
  if (!check.good()) return;
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
    check(lt.set_preference(preference, attribute, &value, sizeof value),
          "cublasLtMatmulPreferenceSetAttribute");
  };
  const auto bytes = [](int64_t alignment) { return static_cast<uint32_t>(alignment); };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kWorkspaceBytes);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, bytes(p.b.alignment));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, bytes(p.a.alignment));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, bytes(p.out.alignment));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, bytes(p.out.alignment));
  cublasLtMatmulHeuristicResult_t best = {};
  int found = 0;
  if (check.good()) {
    check(lt.find_algorithms(handle, plan.operation, plan.b, plan.a, plan.out, plan.out, preference,
                             1, &best, &found),
          "cublasLtMatmulAlgoGetHeuristic");
  }
  if (check.good() && found) check(best.state, "cublasLtMatmulAlgoGetHeuristic");
  plan.algorithm = best.algo;
  if (check.good() && !found) plan.refusal = "cublasLtMatmulAlgoGetHeuristic: it knows no way";
  lt.drop_preference(preference);
}

struct DeviceState {
  cublasLtHandle_t handle = nullptr;
  IntrusivePtr<Storage> workspace;
};

/// Plans by problem. What it holds is never given back: at the end of the process CUDA is gone.
class Plans {
 public:
  static Plans& get() {
    static Plans* const instance = new Plans();
    return *instance;
  }

  /// Held while a plan is made or used: the place of the bias is part of it.
  std::mutex& mutex() { return mutex_; }

  const Plan& plan(const Problem& problem, Device device) {
    const auto found = plans_.find(problem);
    if (found != plans_.end()) return *found->second;
    auto plan = std::make_unique<Plan>();
    make(*plan, problem, device);
    return *plans_.emplace(problem, std::move(plan)).first->second;
  }

  const DeviceState& state(Device device) { return devices_[device.index]; }

 private:
  void make(Plan& plan, const Problem& p, Device device) {
    Calls check;
    DeviceState& state = devices_[device.index];
    cuda_stream(device);  // what follows is about this device
    if (!state.handle) {
      check(CublasLt::get().create(&state.handle), "cublasLtCreate");
      state.workspace = Storage::allocate(device, kWorkspaceBytes);
    }
    const cudaDataType_t type = data_type(static_cast<DType>(p.dtype));
    if (check.good()) plan.b = make_layout(check, p.b, type, p.batches);
    if (check.good()) plan.a = make_layout(check, p.a, type, p.batches);
    if (check.good()) plan.out = make_layout(check, p.out, type, p.batches);
    if (check.good()) make_operation(check, plan, p);
    if (check.good()) find_algorithm(check, plan, p, state.handle);
    if (!check.good()) plan.refusal = check.text();
  }

  std::mutex mutex_;
  std::map<Problem, std::unique_ptr<Plan>> plans_;
  DeviceState devices_[kMostDevices];
};

}  // namespace

const char* refuse_product(Device device, DType dtype, const ProductArgs& args) {
  if (const char* why = CublasLt::get().library.why_missing()) return why;
  Problem problem;
  if (const char* why = make_problem(problem, device, dtype, args)) return why;
  const std::lock_guard lock(Plans::get().mutex());
  const Plan& plan = Plans::get().plan(problem, device);
  return plan.refusal.empty() ? nullptr : plan.refusal.c_str();
}

bool run_product(Device device, DType dtype, const ProductArgs& args) {
  Problem problem;
  if (make_problem(problem, device, dtype, args)) return false;
  const CublasLt& lt = CublasLt::get();
  const std::lock_guard lock(Plans::get().mutex());
  const Plan& plan = Plans::get().plan(problem, device);
  if (!plan.refusal.empty()) return false;
  const DeviceState& state = Plans::get().state(device);
  Calls check;
  if (args.bias) {
    check(lt.set_operation(plan.operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &args.bias,
                           sizeof args.bias),
          "cublasLtMatmulDescSetAttribute");
  }
  const float one = 1, zero = 0;
  const double one_f64 = 1, zero_f64 = 0;
  const bool is_f64 = dtype == DType::f64;
  const void* const alpha = is_f64 ? static_cast<const void*>(&one_f64) : &one;
  const void* const beta = is_f64 ? static_cast<const void*>(&zero_f64) : &zero;
  check(lt.multiply(state.handle, plan.operation, alpha, args.b, plan.b, args.a, plan.a, beta,
                    args.out, plan.out, args.out, plan.out, &plan.algorithm,
                    state.workspace->data(), kWorkspaceBytes, cuda_stream(device)),
        "cublasLtMatmul");
  if (!check.good()) fail(ErrorKind::internal, "{} on {}", check.text(), to_string(device));
  return true;
}

}  // namespace thalweg::cuda
