// model_samples write FILE | copy FROM TO

#include <cstdio>
#include <string>

#include <thalweg/base/error.h>

#include "sample_tensors.h"

int main(int argc, char** argv) try {
  using namespace thalweg::model;
  const std::string command = argc > 2 ? argv[1] : "";
  if (command == "write" && argc == 3) {
    save_safetensors(argv[2], sample_tensors(), sample_metadata());
  } else if (command == "copy" && argc == 4) {
    const SafetensorsFile file(argv[2]);
    save_safetensors(argv[3], file.read_all(), file.metadata());
  } else {
    std::fprintf(stderr, "model_samples: write FILE | copy FROM TO\n");
    return 2;
  }
} catch (const thalweg::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
