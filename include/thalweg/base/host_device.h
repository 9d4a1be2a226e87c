#pragma once

// Marks functions that kernels for cpu and for cuda share.
#ifdef __CUDACC__
#define THALWEG_HOST_DEVICE __host__ __device__
#else
#define THALWEG_HOST_DEVICE
#endif
