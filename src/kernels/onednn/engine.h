#pragma once

// What all kernels on oneDNN share. Primitives run in the calling thread alone: the tiles they are
// called from are what is spread over threads.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>

#include <oneapi/dnnl/dnnl.hpp>

#include <thalweg/tensor/meta.h>

#include "device/scratch.h"

namespace thalweg::onednn {

const dnnl::engine& engine();

/// While it lives, oneDNN creates and runs primitives for one thread, whatever the program has set
/// for OpenMP.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int outer_;
};

/// For every primitive descriptor: memory it needs comes from our pool.
dnnl::primitive_attr attributes();

dnnl::memory::data_type data_type(DType dtype);

struct Argument {
  int id;  // DNNL_ARG_...
  const dnnl::memory::desc& desc;
  const void* data;
};

/// Runs a primitive in the calling thread, with scratch memory as its descriptor wants it.
/// Throws Error{internal} if oneDNN reports an error.
void run(const dnnl::primitive& primitive, const dnnl::memory::desc& scratchpad,
         std::initializer_list<Argument> arguments);

}  // namespace thalweg::onednn
