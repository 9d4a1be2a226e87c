#pragma once

// The commands. Each returns the program's exit code, and throws Error.

#include <string>
#include <vector>

#include "cli/options.h"

namespace thalweg::cli {

/// `program` is how the shell calls this program, `command` the whole command line.
int run_train(const TrainOptions& options, const std::string& program, const std::string& command);
int run_eval(const EvalOptions& options);
int run_predict(const PredictOptions& options);
int run_summary(const SummaryOptions& options);
int run_export(const ExportOptions& options);
int run_plot(const PlotOptions& options);
int run_inspect(const InspectOptions& options);
int run_convert(const ConvertOptions& options);
int run_bench(const BenchOptions& options);
int run_doctor(const DoctorOptions& options);

/// What `bench` can run, and the lines of its --help about them.
std::vector<std::string> workload_names();
std::string workload_table();

}  // namespace thalweg::cli
