#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/recipe/families.h"
#include "cli/trained_net.h"

namespace thalweg::cli {
namespace {

// The mean of a net's outputs for the views of each sample, [n, views, ...].
class MeanOfViews final : public nn::Module {
 public:
  explicit MeanOfViews(nn::Module& net) : net_(net) {}

 private:
  Tensor forward(const Tensor& x) override {
    Shape shape = x.shape();
    const int64_t n = shape[0], views = shape[1];
    shape.erase(0);
    shape[0] = n * views;
    const Tensor each = net_(reshape(x, shape));
    shape = each.shape();
    shape[0] = views;
    shape.insert(0, n);
    return mean(reshape(each, shape), {1});
  }

  nn::Module& net_;
};

void measure(nn::Module& net, data::DataLoader loader, const Recipe& recipe,
             const std::vector<metric::MetricPtr>& metrics) {
  train::evaluate(net, loader, recipe.train.loss.as<LossPart>().make(), metrics);
}

}  // namespace

int run_eval(const EvalOptions& options) {
  const Device device = apply(options.common);
  Recipe recipe;
  load_recipe_of_run(recipe, options.run, options.overrides);
  const RecipeData data = load_data(recipe, OtherSet::refused);
  nn::Sequential net = load_trained_net(recipe, options.run, options.weights, data.test, device);

  std::vector<metric::MetricPtr> metrics = make_metrics(recipe);
  metrics.insert(metrics.begin(), metric::loss());
  if (options.views) {
    constexpr int64_t kPictures = 26;  // as many views as others have samples in a batch
    MeanOfViews mean(net);
    measure(mean, views_for_test(recipe, data.raw_test).loader({.batch_size = kPictures}), recipe,
            metrics);
  } else {
    measure(net, make_test_loader(data.test), recipe, metrics);
  }
  const train::Figures figures = train::figures_of(metrics);

  if (options.json) {
    nlohmann::ordered_json object = {{"data", data.test.name()}, {"samples", data.test.samples()}};
    for (const train::Figure& figure : figures) object[figure.name] = figure.value;
    fmt::print("{}\n", object.dump());
    return kExitOk;
  }
  fmt::print("{}, {} samples\n", data.test.name(), data.test.samples());
  for (const train::Figure& figure : figures)
    fmt::print("{:<20} {:.4f}\n", figure.name, figure.value);
  return kExitOk;
}

}  // namespace thalweg::cli
