#include "cli/command_line.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>
#include <new>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>

#include <thalweg/base/log.h>
#include <thalweg/base/text.h>
#include <thalweg/base/threads.h>

#include "base/fail.h"
#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/data_file.h"
#include "cli/exit_code.h"
#include "cli/recipes.h"
#include "cli/version.h"

namespace thalweg::cli {
namespace {

constexpr const char* kRunHelp = "The folder of a run, or of an exported model";
constexpr const char* kWeightsHelp =
    "A safetensors file or a checkpoint in place of the run's weights";

// The parser, the structs it fills, and what is run when it is done.
class CommandLine {
 public:
  CommandLine(std::string program, std::string command)
      : program_(std::move(program)), command_(std::move(command)) {
    app_.set_version_flag("--version", fmt::format("thalweg {}", kVersion));
    app_.footer("`thalweg COMMAND --help` says more. " + exit_code_help());
    app_.require_subcommand(1);
    app_.failure_message([](const CLI::App*, const CLI::Error&) { return std::string(); });
    app_.get_formatter()->column_width(34);
    add_train();
    add_eval();
    add_predict();
    add_summary();
    add_plot();
    add_export();
    add_inspect();
    add_convert();
    add_bench();
    add_doctor();
    add_completion();
  }

  int run(int argc, char** argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::Success& asked_for_help) {
      return app_.exit(asked_for_help);
    } catch (const CLI::ParseError& error) {
      throw_usage(error, argc, argv);
    }
    return run_();
  }

 private:
  CLI::App* add_command(const char* name, const char* doc, std::function<int()> run) {
    CLI::App* command = app_.add_subcommand(name, doc);
    command->callback([this, run] { run_ = run; });
    return command;
  }

  static void add_common(CLI::App* command, CommonOptions& options) {
    command->add_option("--device", options.device, "Where to compute: cpu or cuda:N")
        ->capture_default_str();
    command
        ->add_option("--threads", options.threads,
                     "Threads of a kernel; 0: THALWEG_THREADS, or one for each core")
        ->capture_default_str()
        ->check(CLI::Range(0, 4096));
    command->add_flag("--verbose", options.verbose, "Say which kernels run, and why others do not");
  }

  // An unset variable of a script must not mean something else than what it stands for.
  static const CLI::Validator& not_empty() {
    static const CLI::Validator validator(
        [](const std::string& word) { return word.empty() ? "is empty" : std::string(); }, "");
    return validator;
  }

  static void add_overrides(CLI::App* command, std::vector<std::string>& overrides) {
    command->add_option("--set", overrides, "KEY=VALUE: override a key of the recipe; repeatable")
        ->allow_extra_args(false);
  }

  void add_train() {
    CLI::App* command =
        add_command("train", "Train a net by a recipe; without one, list those that come along",
                    [this] { return run_train(train_, program_, command_); });
    command->add_option("RECIPE", train_.recipe, "Name or file of a recipe")->check(not_empty());
    add_overrides(command, train_.overrides);
    command
        ->add_option("--resume", train_.resume,
                     "Go on from the newest checkpoint in this run's folder")
        ->check(not_empty());
    command->add_option("--seed", train_.seed, "As --set run.seed=N");
    command->add_option("--runs", train_.runs, "As --set run.folder=FOLDER")->check(not_empty());
    command->add_flag("--profile", train_.profile,
                      "Time every kernel: a table, and profile.json in the run's folder for "
                      "chrome://tracing");
    command->add_flag("--print", train_.print, "Print the whole recipe, with defaults, and end");
    command->add_flag("--keys", train_.keys, "Print every key that a recipe may have, and end");
    add_common(command, train_.common);
  }

  void add_eval() {
    CLI::App* command = add_command("eval", "Measure a trained net on the test data of its recipe",
                                    [this] { return run_eval(eval_); });
    command->add_option("RUN", eval_.run, kRunHelp)->required()->check(not_empty());
    command->add_option("--weights", eval_.weights, kWeightsHelp)->check(not_empty());
    add_overrides(command, eval_.overrides);
    command->add_flag(
        "--views", eval_.views,
        "The mean of the net's outputs for ten views of each picture, in place of the "
        "part that the recipe's center_crop takes");
    command->add_flag("--json", eval_.json, "One JSON object");
    add_common(command, eval_.common);
  }

  void add_predict() {
    CLI::App* command = add_command("predict", "Let a trained net judge the samples in files",
                                    [this] { return run_predict(predict_); });
    command->add_option("RUN", predict_.run, kRunHelp)->required()->check(not_empty());
    command
        ->add_option("FILES", predict_.files,
                     "IDX files, PNG or JPEG pictures, or CSV files with a sample a line")
        ->required();
    command->add_option("--weights", predict_.weights, kWeightsHelp)->check(not_empty());
    command->add_option("--top", predict_.top, "How many classes to name for each sample")
        ->capture_default_str()
        ->check(CLI::Range(1, 1000000));
    command->add_flag("--json", predict_.json, "A JSON object a sample");
    add_common(command, predict_.common);
  }

  void add_summary() {
    CLI::App* command = add_command("summary", "Show a recipe's net: layers, shapes, parameters",
                                    [this] { return run_summary(summary_); });
    command
        ->add_option("RECIPE", summary_.recipe,
                     "Name or file of a recipe, or the folder of a run or a model")
        ->required();
    add_overrides(command, summary_.overrides);
    command->add_flag("--plan", summary_.plan, "Show the plan of a training step as well");
  }

  void add_plot() {
    CLI::App* command = add_command("plot", "Draw a recipe's net, or the plan of a training step",
                                    [this] { return run_plot(plot_); });
    command
        ->add_option("RECIPE", plot_.recipe,
                     "Name or file of a recipe, or the folder of a run or a model")
        ->required()
        ->check(not_empty());
    add_overrides(command, plot_.overrides);
    command
        ->add_option("--format", plot_.format,
                     "dot (Graphviz) or svg; by the extension of FILE, else dot")
        ->check(CLI::IsMember({"dot", "svg"}));
    command->add_option("-o,--output", plot_.output, "FILE to write; else standard output")
        ->check(not_empty());
    command->add_flag("--plan", plot_.plan, "The records of the plan of a training step");
  }

  void add_export() {
    CLI::App* command =
        add_command("export", "Write a net as a model that runs without the code that made it",
                    [this] { return run_export(export_); });
    command->add_option("RECIPE", export_.recipe, "A run's folder, or name or file of a recipe")
        ->required()
        ->check(not_empty());
    command->add_option("-o,--output", export_.output, "The model's FOLDER")
        ->required()
        ->check(not_empty());
    command->add_option("--weights", export_.weights, kWeightsHelp)->check(not_empty());
    add_overrides(command, export_.overrides);
  }

  static void add_data_files(CLI::App* command, DataFileOptions& options) {
    command->add_option("--format", options.format, format_help());
    command
        ->add_option(
            "--stream", options.streams,
            "[NAME=]FIELD:dense|sparse:DIM[:DTYPE][:counts], a stream of the files such as "
            "F:dense:784; repeatable")
        ->allow_extra_args(false);
    command
        ->add_option("--option", options.options, "KEY=VALUE: an option of the format; repeatable")
        ->allow_extra_args(false);
    command->footer(format_table());
    command->add_flag("--compat", options.compat, "CTF: read as CNTK's own reader does");
    command
        ->add_option("--max-errors", options.max_errors,
                     "Bad records that may be dropped; one more is an error")
        ->capture_default_str()
        ->check(CLI::NonNegativeNumber);
  }

  void add_inspect() {
    CLI::App* command =
        add_command("inspect", "Say what is in a file or a run's folder; check a whole data file",
                    [this] { return run_inspect(inspect_); });
    command
        ->add_option("FILES", inspect_.files,
                     "Data files of any format, safetensors, checkpoints, runs")
        ->required();
    command->add_flag("--json", inspect_.json, "A JSON object a file");
    add_data_files(command, inspect_.data);
  }

  void add_convert() {
    CLI::App* command = add_command("convert", "Write data files in another format, or their index",
                                    [this] { return run_convert(convert_); });
    command->add_option("FROM", convert_.from, "A data file, or a pattern such as 'data/*.ctf'")
        ->required();
    command->add_option("TO", convert_.to, "The file to write");
    add_data_files(command, convert_.data);
    command->add_option("--to-format", convert_.to_format, "TO's format; by its extension else");
    command
        ->add_option("--to-option", convert_.to_options,
                     "KEY=VALUE: an option of TO's format; repeatable")
        ->allow_extra_args(false);
    command
        ->add_option("--dictionary", convert_.dictionaries,
                     "[FIELD=]FILE: FROM is lines of tab-separated columns of tokens, TO is to be "
                     "CTF; the tokens of the next column, a line each; repeatable")
        ->allow_extra_args(false);
    command->add_flag("--annotate", convert_.annotate, "Write each token as a remark");
    command->add_flag("--index", convert_.index,
                      "Write the index of FROM, without TO nothing else");
  }

  void add_bench() {
    CLI::App* command = add_command("bench", "Time this machine on the fixed workloads",
                                    [this] { return run_bench(bench_); });
    command->add_option("NAMES", bench_.names, "Workloads; without a name, all");
    command->footer(workload_table());
    command->add_option("--threads", bench_.threads, "Threads; 0: as for training")
        ->capture_default_str()
        ->check(CLI::Range(0, 4096));
    command->add_flag("--json", bench_.json, "A JSON object a workload");
  }

  void add_doctor() {
    CLI::App* command = add_command(
        "doctor", "Say what this machine and this program have, and what each absence costs",
        [this] { return run_doctor(doctor_); });
    command->add_flag("--json", doctor_.json, "One JSON object");
  }

  void add_completion() {
    CLI::App* command = add_command(
        "completion", "Print the script that completes command lines in a shell", [this] {
          fmt::print("{}", completion_script(shell_, completed_commands()));
          return kExitOk;
        });
    command->add_option("SHELL", shell_, "bash, zsh or fish")->required();
  }

  std::vector<CompletedCommand> completed_commands() const {
    std::vector<CompletedCommand> commands;
    for (const CLI::App* command : app_.get_subcommands(nullptr)) {
      CompletedCommand& entry = commands.emplace_back();
      entry.name = command->get_name();
      entry.doc = command->get_description();
      for (const CLI::Option* option : command->get_options()) {
        for (const std::string& name : option->get_lnames()) {
          entry.options.push_back("--" + name);
          entry.option_docs.push_back(option->get_description());
        }
        if (option->get_name() == "RECIPE") entry.words = recipe_names();
        if (option->get_name() == "NAMES") entry.words = workload_names();
        if (option->get_name() == "SHELL")
          entry.words.assign(std::begin(kShells), std::end(kShells));
      }
    }
    return commands;
  }

  // The parser's words, and what was probably meant.
  [[noreturn]] void throw_usage(const CLI::ParseError& error, int argc, char** argv) {
    const CLI::App* at = &app_;
    std::vector<std::string> known;
    for (const CLI::App* command : app_.get_subcommands(nullptr)) {
      known.push_back(command->get_name());
      if (argc > 1 && known.back() == argv[1]) at = command;
    }
    const std::string help = at == &app_ ? "" : " " + at->get_name();
    if (at == &app_ && argc > 1 && argv[1][0] != '-') {
      fail_invalid("usage: there is no command '{}'{}; see thalweg --help", argv[1],
                   hint(argv[1], known));
    }
    std::string unknown;
    known.clear();
    for (const CLI::Option* option : at->get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
    for (int i = 2; i < argc && unknown.empty(); ++i) {
      const std::string_view argument = argv[i];
      const std::string word(argument.substr(0, argument.find('=')));
      if (word.starts_with("--") && std::find(known.begin(), known.end(), word) == known.end()) {
        unknown = word;
      }
    }
    std::string reason = error.what();
    for (char& c : reason) c = c == '\n' ? ' ' : c;
    if (!unknown.empty())
      reason = fmt::format("there is no option {}{}", unknown, hint(unknown, known));
    fail_invalid("usage: {}; see thalweg{} --help", reason, help);
  }

  static std::string hint(const std::string& word, const std::vector<std::string>& known) {
    const std::vector<std::string_view> views(known.begin(), known.end());
    return did_you_mean(word, views);
  }

  CLI::App app_{"Trains nets by recipes.", "thalweg"};
  std::function<int()> run_;
  std::string program_;  // as the shell takes it
  std::string command_;
  TrainOptions train_;
  EvalOptions eval_;
  PredictOptions predict_;
  SummaryOptions summary_;
  PlotOptions plot_;
  ExportOptions export_;
  InspectOptions inspect_;
  ConvertOptions convert_;
  BenchOptions bench_;
  DoctorOptions doctor_;
  std::string shell_;
};

std::string joined(int argc, char** argv) {
  std::string text;
  for (int i = 0; i < argc; ++i) text += (i > 0 ? " " : "") + shell_word(argv[i]);
  return text;
}

// Else the next file that is opened would be standard output, and get what is printed.
void open_standard_streams() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF) ::open("/dev/null", fd ? O_WRONLY : O_RDONLY);
  }
}

// What is printed may wait in a buffer until now. A reader that has seen enough, such as head, is
// no error.
int finish_output(int code) {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && !std::ferror(stdout) && std::cout) return code;
  if (errno == EPIPE) return code;
  fail_io("print: cannot write to standard output; {}", std::strerror(errno));
}

}  // namespace

int run_command_line(int argc, char** argv) {
  try {
    open_standard_streams();
    std::signal(SIGPIPE, SIG_IGN);  // a run goes on without those who look on
    const std::string program = argc > 0 ? shell_word(argv[0]) : "thalweg";
    return finish_output(CommandLine(program, joined(argc, argv)).run(argc, argv));
  } catch (...) {
    return report_error();
  }
}

}  // namespace thalweg::cli
