#include "kernels/cuda/cublas_library.h"

namespace thalweg::cuda {

CublasLt::CublasLt() {
  library.find(create, "cublasLtCreate");
  library.find(make_operation, "cublasLtMatmulDescCreate");
  library.find(drop_operation, "cublasLtMatmulDescDestroy");
  library.find(set_operation, "cublasLtMatmulDescSetAttribute");
  library.find(make_layout, "cublasLtMatrixLayoutCreate");
  library.find(drop_layout, "cublasLtMatrixLayoutDestroy");
  library.find(set_layout, "cublasLtMatrixLayoutSetAttribute");
  library.find(make_preference, "cublasLtMatmulPreferenceCreate");
  library.find(drop_preference, "cublasLtMatmulPreferenceDestroy");
  library.find(set_preference, "cublasLtMatmulPreferenceSetAttribute");
  library.find(find_algorithms, "cublasLtMatmulAlgoGetHeuristic");
  library.find(multiply, "cublasLtMatmul");
  library.find(text, "cublasLtGetStatusString");
}

const CublasLt& CublasLt::get() {
  static const CublasLt instance;
  return instance;
}

}  // namespace thalweg::cuda
