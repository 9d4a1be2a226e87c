#pragma once

namespace thalweg {

/// Adds the fast cpu kernels that were built in to the op table, fastest first.
void register_cpu_kernels();

/// Convolutions of images with one channel.
void register_gray_conv_kernels();
/// Convolutions with windows of 3 x 3.
void register_winograd_kernels();
/// Products and convolutions on oneDNN.
void register_onednn_kernels();
/// matmul and linear.
void register_gemm_kernels();
/// attention and its gradient.
void register_attention_kernels();
/// The convolution family.
void register_conv_kernels();
/// Recurrent layers.
void register_recurrent_kernels();
/// What picks and adds elements at positions.
void register_index_kernels();
/// Point-wise ops, reductions and others whose loops are our own SIMD.
void register_simd_kernels();

}  // namespace thalweg
