#pragma once

// What the command line says, as plain structs: a command's own code knows no parser.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace thalweg::cli {

/// What most commands take.
struct CommonOptions {
  std::string device = "cpu";
  int threads = 0;  ///< 0: as THALWEG_THREADS or the processor says
  int verbose = 0;
};

struct TrainOptions {
  CommonOptions common;
  std::string recipe;                  ///< a name or a path; empty: list the names
  std::vector<std::string> overrides;  ///< key=value
  std::string resume;                  ///< a run's folder
  std::optional<int64_t> seed;
  std::string runs;  ///< the folder in which the run's folder is made
  bool print = false;
  bool keys = false;
  bool profile = false;  ///< time every kernel
};

struct EvalOptions {
  CommonOptions common;
  std::string run;      ///< a run's folder
  std::string weights;  ///< other weights for its net, a safetensors file
  std::vector<std::string> overrides;
  bool views = false;  ///< ten of each picture
  bool json = false;
};

struct PredictOptions {
  CommonOptions common;
  std::string run;
  std::string weights;
  std::vector<std::string> files;
  int64_t top = 1;
  bool json = false;
};

struct SummaryOptions {
  std::string recipe;
  std::vector<std::string> overrides;
  bool plan = false;
};

struct ExportOptions {
  std::string recipe;  ///< or a run's folder
  std::string output;  ///< the model's folder
  std::string weights;
  std::vector<std::string> overrides;
};

struct PlotOptions {
  std::string recipe;
  std::vector<std::string> overrides;
  std::string format;  ///< dot or svg; empty: by the extension of output, else dot
  std::string output;  ///< empty: standard output
  bool plan = false;
};

/// How data files are to be read.
struct DataFileOptions {
  std::string format;  ///< empty: by the extension
  std::vector<std::string> streams;
  std::vector<std::string> options;  ///< key=value
  bool compat = false;
  int64_t max_errors = 0;
};

struct InspectOptions {
  std::vector<std::string> files;
  DataFileOptions data;
  bool json = false;
};

struct ConvertOptions {
  std::string from;
  std::string to;  ///< empty: nothing but an index is made
  DataFileOptions data;
  std::string to_format;
  std::vector<std::string> to_options;
  std::vector<std::string> dictionaries;
  bool annotate = false;
  bool index = false;
};

struct BenchOptions {
  std::vector<std::string> names;
  int threads = 0;
  bool json = false;
};

struct DoctorOptions {
  bool json = false;
};

}  // namespace thalweg::cli
