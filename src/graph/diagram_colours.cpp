#include "graph/diagram_colours.h"

#include <cctype>
#include <string>

namespace thalweg {
namespace {

struct Kind {
  std::string_view name;
  KindColours colours;
};

constexpr Kind kKinds[] = {
    {"input", {"#5b6570", "#8dd3c7"}},      {"output", {"#5b6570", "#8dd3c7"}},
    {"dense", {"#2b7bbb", "#fb8072"}},      {"conv", {"#7a5bb5", "#fb8072"}},
    {"activation", {"#d0663a", "#ffffb3"}}, {"norm", {"#c9952b", "#bebada"}},
    {"pool", {"#2f9a78", "#80b1d3"}},       {"shape", {"#8a8f3a", "#fdb462"}},
    {"softmax", {"#5f9e3a", "#b3de69"}},    {"dropout", {"#9a8f80", "#d9d9d9"}},
    {"embedding", {"#3d9fb0", "#ccebc5"}},  {"recurrent", {"#a8527f", "#fbb4ae"}},
    {"attention", {"#4a62c4", "#b3cde3"}},  {"loss", {"#b8405a", "#fccde5"}},
    {"other", {"#8c8c8c", "#fccde5"}},
};

// Parts of names, in lower case; the first that is found counts.
struct Word {
  std::string_view part;
  std::string_view kind;
};

constexpr Word kWords[] = {
    {"attention", "attention"}, {"embedding", "embedding"},
    {"dropout", "dropout"},     {"norm", "norm"},
    {"conv", "conv"},           {"pool", "pool"},
    {"lstm", "recurrent"},      {"gru", "recurrent"},
    {"rnn", "recurrent"},       {"cross_entropy", "loss"},
    {"loss", "loss"},           {"softmax", "softmax"},
    {"dense", "dense"},         {"linear", "dense"},
    {"matmul", "dense"},        {"activation", "activation"},
    {"relu", "activation"},     {"elu", "activation"},
    {"sigmoid", "activation"},  {"tanh", "activation"},
    {"silu", "activation"},     {"softplus", "activation"},
    {"swish", "activation"},    {"flatten", "shape"},
    {"concat", "shape"},        {"reshape", "shape"},
    {"stack", "shape"},         {"copy", "shape"},
};

std::string_view kind_of_name(std::string_view name, std::string_view otherwise) {
  std::string lower;
  for (const char c : name) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const Word& word : kWords) {
    if (lower.find(word.part) != lower.npos) return word.kind;
  }
  return otherwise;
}

}  // namespace

KindColours kind_colours(std::string_view kind) {
  for (const Kind& known : kKinds) {
    if (known.name == kind) return known.colours;
  }
  return std::end(kKinds)[-1].colours;
}

std::string_view kind_of_type(std::string_view type_name) {
  return kind_of_name(type_name, "other");
}

std::string_view kind_of_op(const Op& op) {
  return kind_of_name(op.name, op.flags.view ? "shape" : "other");
}

}  // namespace thalweg
