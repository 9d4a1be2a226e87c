#include "kernels/onednn/engine.h"

#include <array>

#include <omp.h>

namespace thalweg::onednn {

const dnnl::engine& engine() {
  static const dnnl::engine instance(dnnl::engine::kind::cpu, 0);
  return instance;
}

OneThread::OneThread() : outer_(omp_get_max_threads()) {
  if (outer_ != 1) omp_set_num_threads(1);
}
OneThread::~OneThread() {
  if (outer_ != 1) omp_set_num_threads(outer_);
}

dnnl::primitive_attr attributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

dnnl::memory::data_type data_type(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return dnnl::memory::data_type::f16;
    case DType::bf16:
      return dnnl::memory::data_type::bf16;
    default:
      return dnnl::memory::data_type::f32;
  }
}

dnnl::memory::desc describe(const TensorMeta& meta) {
  return {{meta.shape.begin(), meta.shape.end()},
          data_type(meta.dtype),
          dnnl::memory::dims(meta.strides.begin(), meta.strides.end())};
}

namespace {

// The library's C interface: its C++ one makes a hash map per call.
class Memory {
 public:
  Memory() = default;
  ~Memory() {
    if (memory_) dnnl_memory_destroy(memory_);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  bool create(const dnnl::memory::desc& desc, const void* data) {
    return dnnl_memory_create(&memory_, desc.get(), engine().get(), const_cast<void*>(data)) ==
           dnnl_success;
  }
  dnnl_memory_t get() const { return memory_; }

 private:
  dnnl_memory_t memory_ = nullptr;
};

dnnl_stream_t stream() {
  thread_local const dnnl::stream instance(engine());
  return instance.get();
}

}  // namespace

bool run(const dnnl::primitive& primitive, const dnnl::memory::desc& scratchpad,
         std::initializer_list<Argument> arguments) {
  constexpr size_t kMost = 6;
  std::array<Memory, kMost> memories;
  std::array<dnnl_exec_arg_t, kMost> given;
  const Scratch<std::byte> scratch(static_cast<int64_t>(scratchpad.get_size()));
  size_t count = 0;
  const auto add = [&](const Argument& a) {
    if (!memories[count].create(a.desc, a.data)) return false;
    given[count] = {a.id, memories[count].get()};
    ++count;
    return true;
  };
  for (const Argument& argument : arguments) {
    if (!add(argument)) return false;
  }
  if (!add({DNNL_ARG_SCRATCHPAD, scratchpad, scratch.data()})) return false;
  const OneThread alone;
  return dnnl_primitive_execute(primitive.get(), stream(), static_cast<int>(count), given.data()) ==
         dnnl_success;
}

}  // namespace thalweg::onednn
