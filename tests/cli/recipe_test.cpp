#include "cli/recipe/recipe.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <thalweg/base/error.h>

#include "base/expect_error.h"
#include "cli/recipe/families.h"
#include "cli/recipe/write.h"
#include "cli/recipes.h"

namespace thalweg::cli {
namespace {

constexpr const char* kSmall = R"([data]
set = "spirals"
batch_size = 16

[[net.layer]]
kind = "dense"
units = 8

[[net.layer]]
kind = "dense"
units = 2

[optimizer]
kind = "sgd"
learning_rate = 0.5
)";

void load(Recipe& recipe, const std::string& text, const std::vector<std::string>& overrides = {}) {
  load_recipe(recipe, text, "r.toml", "r", overrides);
}

std::string error_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  Recipe recipe;
  try {
    load(recipe, text, overrides);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid);
    return error.what();
  }
  return "no error";
}

TEST(Recipe, SetsWhatItSaysAndLeavesDefaultsElsewhere) {
  Recipe recipe;
  load(recipe, kSmall);
  EXPECT_EQ(recipe.run.name, "r");
  EXPECT_EQ(recipe.data.set.kind->name, "spirals");
  EXPECT_EQ(recipe.data.batch_size, 16);
  EXPECT_TRUE(recipe.data.shuffle);
  ASSERT_EQ(recipe.layers.size(), 2);
  EXPECT_EQ(recipe.layers[0].kind->name, "dense");
  EXPECT_EQ(recipe.optimizer.as<OptimizerPart>().make().describe(), "SGD(learning_rate=0.5)");
  EXPECT_EQ(recipe.train.epochs, 10);
}

TEST(Recipe, OverridesReplaceKeysOfAnyDepth) {
  Recipe recipe;
  load(recipe, kSmall,
       {"train.epochs=3", "net.layer.1.units=5", "data.shuffle=false", "run.name=other",
        "data.prefetch=2 MiB", "train.metrics=[\"accuracy\", \"f1\"]",
        "train.checkpoints.every_minutes=1.5", "optimizer.learning_rate=1"});
  EXPECT_EQ(recipe.train.epochs, 3);
  EXPECT_EQ(value_text(recipe.layers[1].part->fields()[0]), "5");
  EXPECT_FALSE(recipe.data.shuffle);
  EXPECT_EQ(recipe.run.name, "other");
  EXPECT_EQ(recipe.data.prefetch.bytes, 2 << 20);
  EXPECT_THAT(recipe.train.metrics, testing::ElementsAre("accuracy", "f1"));
  EXPECT_EQ(recipe.checkpoints.every_minutes, 1.5);
}

TEST(Recipe, ALaterOverrideOfTheSameKeyWins) {
  Recipe recipe;
  load(recipe, kSmall, {"train.epochs=3", "train.epochs=4"});
  EXPECT_EQ(recipe.train.epochs, 4);
}

TEST(Recipe, WritesItselfSoThatReadingGivesTheSame) {
  for (const BuiltInRecipe& built_in : built_in_recipes()) {
    Recipe first, second;
    load_recipe(first, built_in.text, "a", "a \"quoted\" \t name", {});
    const std::string written = write_recipe(first.sections());
    load_recipe(second, written, "b", "b", {});
    EXPECT_EQ(write_recipe(second.sections()), written) << built_in.name;
  }
}

TEST(Recipe, TheWrittenRecipeNamesEveryKey) {
  Recipe recipe;
  load(recipe, kSmall);
  const std::string written = write_recipe(recipe.sections());
  EXPECT_THAT(written, testing::HasSubstr("[data]\nset = \"spirals\"\nclasses = 2\n"));
  EXPECT_THAT(written, testing::HasSubstr("[[net.layer]]\nkind = \"dense\"\nunits = 8\n"));
  EXPECT_THAT(written, testing::HasSubstr("learning_rate = 0.5\nmomentum = 0.0\n"));
  EXPECT_THAT(written, testing::HasSubstr("[train.checkpoints]\nevery_steps = 0\n"));
}

struct BadRecipe {
  const char* change;  // appended to a good one, or the whole text if it begins with '!'
  const char* error;
};

TEST(Recipe, SaysWhatIsWrongAndWhere) {
  const BadRecipe cases[] = {
      {"[train]\nepoch = 3\n",
       "recipe: unknown key 'train.epoch'; r.toml:17; did you mean 'epochs'?"},
      {"[trian]\nepochs = 3\n", "recipe: unknown key 'trian'; r.toml:16; did you mean 'train'?"},
      {"[run]\nqqq = 3\n",
       "recipe: unknown key 'run.qqq'; r.toml:17; known are name, seed, folder"},
      {"[train]\nepochs = \"three\"\n",
       "recipe: 'train.epochs' has the wrong type; r.toml:17: expected integer, found \"three\", a "
       "text"},
      {"[train]\nepochs = 2.5\n",
       "recipe: 'train.epochs' has the wrong type; r.toml:17: expected integer, found 2.5, a "
       "number"},
      {"[train]\nepochs = [1]\n",
       "recipe: 'train.epochs' has the wrong type; r.toml:17: expected integer, found a list"},
      {"[train]\nepochs = 0\n",
       "recipe: 'train.epochs' is out of range; r.toml:17: expected at least 1, found 0"},
      {"[train]\nclip_norm = nan\n",
       "recipe: 'train.clip_norm' is out of range; r.toml:17: expected at most "
       "1.7976931348623157e+308, "
       "found nan"},
      {"[train]\nstop_at_nan = 1\n",
       "recipe: 'train.stop_at_nan' has the wrong type; r.toml:17: expected true or false, found "
       "1, "
       "an integer"},
      {"train = 3\n",
       "recipe: unknown key 'optimizer.train'; r.toml:16; known are kind, learning_rate, momentum, "
       "dampening, nesterov, weight_decay"},
      {"[schedule]\nkind = \"cosin\"\n",
       "recipe: 'schedule.kind' cannot be \"cosin\"; r.toml:17: one of constant, step, multi_step, "
       "polynomial, cosine, one_cycle; did you mean 'cosine'?"},
      {"[[net.layer]]\nunits = 3\n",
       "recipe: 'net.layer.2.kind' is missing; r.toml:16; give one of "},
      {"[[net.layer]]\nkind = \"dense\"\nunit = 3\n",
       "recipe: unknown key 'net.layer.2.unit'; r.toml:18; did you mean 'units'?"},
      {"[[net.layer]]\nkind = \"dense\"\n",
       "recipe: 'net.layer.2.units' is missing; r.toml:16; give an integer, at least 1"},
      {"[data.transform]\nkind = \"scale\"\n",
       "recipe: 'data.transform' has the wrong type; r.toml:16: expected a list of tables, "
       "[[data.transform]], found a table"},
      {"[train]\nclip_norm = 1\nclip_value = 1\n",
       "recipe: gradients are clipped twice; r.toml: train.clip_norm = 1, train.clip_value = 1; "
       "give "
       "one of them"},
      {"learning_rate = 1\n", "recipe: "},
      {"[data]\n", "recipe: "},
      {"!",
       "recipe: 'data.set' is missing; r.toml; give one of fashion_mnist, mnist, cifar10, "
       "drawn_shapes, drawn_digits, spirals"},
      {"![data]\nset = \"spirals\"\n",
       "recipe: the net has no layers; r.toml; give at least one [[net.layer]]"},
      {"!net = 3\n",
       "recipe: 'net' has the wrong type; r.toml:1: expected a table, found 3, an integer"},
      {"!x.y = 3\n",
       "recipe: unknown key 'x'; r.toml:1; known are run, data, net, optimizer, schedule, train"},
      {"!data = 3\n",
       "recipe: 'data' has the wrong type; r.toml:1: expected a table, found 3, an integer"},
      {"!x = = 3\n", "recipe: "},
      {"!\n[=]\n", "recipe: a table has no name; r.toml:2; e.g. [train]"},
      {"![train]\n  [[ .a]]\n", "recipe: a table has no name; r.toml:2; e.g. [train]"},
  };
  for (const BadRecipe& bad : cases) {
    const std::string change = bad.change;
    const std::string text = change.starts_with('!') ? change.substr(1) : kSmall + change;
    const std::string error = error_of(text);
    EXPECT_EQ(error.substr(0, std::string(bad.error).size()), bad.error) << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

TEST(Recipe, SaysWhichOverrideIsWrong) {
  EXPECT_EQ(error_of(kSmall, {"train.epochs"}),
            "recipe: an override is not key=value; --set train.epochs; e.g. --set train.epochs=3");
  EXPECT_EQ(
      error_of(kSmall, {"train..epochs=3"}),
      "recipe: an override is not key=value; --set train..epochs=3; e.g. --set train.epochs=3");
  EXPECT_EQ(error_of(kSmall, {"train.epoch=3"}),
            "recipe: unknown key 'train.epoch'; --set train.epoch=3; did you mean 'epochs'?");
  EXPECT_EQ(error_of(kSmall, {"train.epochs=many"}),
            "recipe: 'train.epochs' has the wrong type; --set train.epochs=many: expected integer, "
            "found \"many\", a text");
  EXPECT_EQ(
      error_of(kSmall, {"net.layer.2.units=3"}),
      "recipe: there is no entry '2'; --set net.layer.2.units=3; the list has entries 0 to 1");
  EXPECT_EQ(error_of(kSmall, {"net.layer.0=3"}),
            "recipe: '0' cannot be set there; --set net.layer.0=3; what it is part of is no table");
  EXPECT_EQ(error_of(kSmall, {"optimizer.learning_rate.x=3"}),
            "recipe: 'x' cannot be set there; --set optimizer.learning_rate.x=3; what it is part "
            "of is no table");
}

TEST(Recipe, AnOverrideMayNotReachIntoAValue) {
  EXPECT_EQ(error_of(kSmall, {"optimizer.learning_rate.x.y=3"}),
            "recipe: nothing can be set in a value; --set optimizer.learning_rate.x.y=3; it has no "
            "'x'");
}

TEST(Recipe, ATextStaysATextWhateverItHolds) {
  Recipe recipe;
  load(recipe, kSmall, {"run.name=a=b # c", "run.folder=with \"quotes\" and \\"});
  EXPECT_EQ(recipe.run.name, "a=b # c");
  EXPECT_EQ(recipe.run.folder, "with \"quotes\" and \\");
}

TEST(Recipe, AnOverrideMustBeUtf8) {
  EXPECT_THAT(error_of(kSmall, {"run.folder=\xff"}),
              testing::StartsWith("recipe: an override is not UTF-8"));
}

TEST(RunLength, StaysWithinWhatCanBeCounted) {
  const RunLength length{.steps_per_epoch = 1000, .epochs = int64_t{1} << 60};
  EXPECT_EQ(length.steps(), int64_t{1} << 62);
  EXPECT_EQ(length.steps_in(1e300), int64_t{1} << 62);
  EXPECT_EQ((RunLength{.steps_per_epoch = 938, .epochs = 10}).steps(), 9380);
}

TEST(RecipeNames, TheNearestIsNamed) {
  EXPECT_THAT(recipe_names(), testing::Contains("fashion-mnist-mlp"));
  EXPECT_THAT(error_text(ErrorKind::invalid, [] { find_recipe("fashion-mnist-mpl"); }),
              testing::EndsWith("; did you mean 'fashion-mnist-mlp'?"));
  EXPECT_THAT(error_text(ErrorKind::io, [] { find_recipe("no/such.toml"); }),
              testing::HasSubstr("no/such.toml"));
}

}  // namespace
}  // namespace thalweg::cli
