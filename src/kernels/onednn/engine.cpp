#include "kernels/onednn/engine.h"

#include <array>

#include <omp.h>

#include "base/fail.h"

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

namespace {

void check(dnnl_status_t status, const char* call) {
  if (status != dnnl_success) {
    fail(ErrorKind::internal, "oneDNN: {} failed with status {}", call, static_cast<int>(status));
  }
}

// The library's C interface: its C++ one makes a hash map per call.
class Memory {
 public:
  Memory() = default;
  ~Memory() {
    if (memory_) dnnl_memory_destroy(memory_);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void create(const dnnl::memory::desc& desc, const void* data) {
    check(dnnl_memory_create(&memory_, desc.get(), engine().get(), const_cast<void*>(data)),
          "dnnl_memory_create");
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

void run(const dnnl::primitive& primitive, const dnnl::memory::desc& scratchpad,
         std::initializer_list<Argument> arguments) {
  constexpr size_t kMost = 6;
  THALWEG_ASSERT(arguments.size() < kMost);
  std::array<Memory, kMost> memories;
  std::array<dnnl_exec_arg_t, kMost> given;
  const Scratch<std::byte> scratch(static_cast<int64_t>(scratchpad.get_size()));
  size_t count = 0;
  const auto add = [&](const Argument& a) {
    memories[count].create(a.desc, a.data);
    given[count] = {a.id, memories[count].get()};
    ++count;
  };
  for (const Argument& argument : arguments) add(argument);
  add({DNNL_ARG_SCRATCHPAD, scratchpad, scratch.data()});
  const OneThread alone;
  check(dnnl_primitive_execute(primitive.get(), stream(), static_cast<int>(count), given.data()),
        "dnnl_primitive_execute");
}

}  // namespace thalweg::onednn
