#pragma once

// Pooling layers over 1 to 3 spatial axes, channels second. See thalweg/ops/pool.h for the options
// and the sizes of the results. Global ones take one window over all spatial axes, which keep size
// 1.

#include <thalweg/nn/module.h>
#include <thalweg/ops/pool.h>

namespace thalweg::nn {

/// What MaxPool1D to MaxPool3D have in common.
class THALWEG_API MaxPool : public Module {
 public:
  std::string type_name() const override { return type_; }
  std::string describe() override;

 protected:
  MaxPool(const char* type, size_t axes, const MaxPoolOptions& options);
  Tensor forward(const Tensor& x) override { return max_pool(x, options_); }

 private:
  const char* type_;
  MaxPoolOptions options_;
};

/// What AvgPool1D to AvgPool3D have in common.
class THALWEG_API AvgPool : public Module {
 public:
  std::string type_name() const override { return type_; }
  std::string describe() override;

 protected:
  AvgPool(const char* type, size_t axes, const AvgPoolOptions& options);
  Tensor forward(const Tensor& x) override { return avg_pool(x, options_); }

 private:
  const char* type_;
  AvgPoolOptions options_;
};

/// What the global pooling layers have in common.
class THALWEG_API GlobalPool : public Module {
 public:
  std::string type_name() const override { return type_; }

 protected:
  GlobalPool(const char* type, size_t axes, Tensor (*pool)(const Tensor& x))
      : type_(type), axes_(axes), pool_(pool) {}
  Tensor forward(const Tensor& x) override;

 private:
  const char* type_;
  size_t axes_;
  Tensor (*pool_)(const Tensor& x);
};

#define THALWEG_POOL_LAYERS(axes)                                                              \
  class THALWEG_API MaxPool##axes##D : public MaxPool {                                        \
   public:                                                                                     \
    explicit MaxPool##axes##D(const MaxPoolOptions& options = {})                              \
        : MaxPool("MaxPool" #axes "D", axes, options) {}                                       \
  };                                                                                           \
  class THALWEG_API AvgPool##axes##D : public AvgPool {                                        \
   public:                                                                                     \
    explicit AvgPool##axes##D(const AvgPoolOptions& options = {})                              \
        : AvgPool("AvgPool" #axes "D", axes, options) {}                                       \
  };                                                                                           \
  class THALWEG_API GlobalMaxPool##axes##D : public GlobalPool {                               \
   public:                                                                                     \
    GlobalMaxPool##axes##D() : GlobalPool("GlobalMaxPool" #axes "D", axes, global_max_pool) {} \
  };                                                                                           \
  class THALWEG_API GlobalAvgPool##axes##D : public GlobalPool {                               \
   public:                                                                                     \
    GlobalAvgPool##axes##D() : GlobalPool("GlobalAvgPool" #axes "D", axes, global_avg_pool) {} \
  };
THALWEG_POOL_LAYERS(1)
THALWEG_POOL_LAYERS(2)
THALWEG_POOL_LAYERS(3)
#undef THALWEG_POOL_LAYERS

}  // namespace thalweg::nn
