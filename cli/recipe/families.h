#pragma once

// What the kinds of a recipe build. Each family's table is in the file of its name.

#include <optional>
#include <span>

#include <thalweg/data/sets.h>
#include <thalweg/thalweg.h>

#include "cli/data_half.h"
#include "cli/recipe/part.h"

namespace thalweg::cli {

/// The two halves of a data set.
struct Splits {
  DataHalf train;
  DataHalf test;
};

class DataSetPart : public Part {
 public:
  /// `seed` is for sets that are made and not read.
  virtual Splits load(uint64_t seed) const = 0;
  /// What to train on where this set cannot be had.
  virtual std::optional<Chosen> fallback() const { return std::nullopt; }
};
std::span<const Kind> data_set_kinds();
std::unique_ptr<Part> make_file_set();
std::unique_ptr<Part> make_text_set();

class TransformPart : public Part {
 public:
  virtual data::Transform make() const = 0;
  /// True for what changes samples at random, which is for training only.
  virtual bool random() const { return false; }
  /// Many views in place of the one part that this takes; null if it takes none.
  virtual data::Transform views() const { return nullptr; }
};
std::span<const Kind> transform_kinds();
std::span<const Kind> image_transform_kinds();  // the rest of them

class InitializerPart : public Part {
 public:
  virtual init::Initializer make() const = 0;
};
std::span<const Kind> initializer_kinds();

class LayerPart : public Part {
 public:
  virtual void add_to(nn::Sequential& net) const = 0;
};
std::span<const Kind> layer_kinds();
std::unique_ptr<Part> make_positional_embedding();
std::unique_ptr<Part> make_transformer_block();

class LossPart : public Part {
 public:
  virtual train::LossFunction make() const = 0;
  /// Whether a label that is one number is that of a class.
  virtual bool takes_classes() const { return false; }
};
std::span<const Kind> loss_kinds();

class OptimizerPart : public Part {
 public:
  virtual optim::Optimizer make() const = 0;
};
std::span<const Kind> optimizer_kinds();

/// How long a run is: recipes count in epochs, schedules in updates.
struct RunLength {
  int64_t steps_per_epoch = 1;
  int64_t epochs = 1;

  int64_t steps() const { return steps_in(static_cast<double>(epochs)); }
  int64_t steps_in(double epochs) const;
};

class SchedulePart : public Part {
 public:
  virtual schedule::Schedule make(const RunLength& length) const = 0;
};
std::span<const Kind> schedule_kinds();

}  // namespace thalweg::cli
