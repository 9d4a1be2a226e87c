# CUDA 13. Sets THALWEG_WITH_CUDA; rooms with CUDA sources then add them, and link CUDA::cudart_static.
# NVRTC and cuBLASLt are opened when they are first called: to load them takes a program 0.1 s.

set(THALWEG_WITH_CUDA FALSE)
if(NOT THALWEG_CUDA STREQUAL "OFF")
  find_package(CUDAToolkit 13 QUIET)
  if(CUDAToolkit_FOUND AND TARGET CUDA::nvrtc AND TARGET CUDA::cublasLt)
    set(THALWEG_WITH_CUDA TRUE)
    if(NOT CMAKE_CUDA_COMPILER)
      set(CMAKE_CUDA_COMPILER ${CUDAToolkit_NVCC_EXECUTABLE})
    endif()
    if(NOT CMAKE_CUDA_ARCHITECTURES)
      # Code for Hopper, and portable code that the driver compiles for whatever else is there.
      set(CMAKE_CUDA_ARCHITECTURES 75-virtual 90-real)
    endif()
    enable_language(CUDA)
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
  elseif(THALWEG_CUDA STREQUAL "ON")
    message(FATAL_ERROR "THALWEG_CUDA is ON, but there is no CUDA 13 toolkit")
  endif()
endif()

thalweg_note(CUDA "${THALWEG_WITH_CUDA}" "${CUDAToolkit_LIBRARY_DIR} (${CUDAToolkit_VERSION})"
  "tensors live on the CPU only")
