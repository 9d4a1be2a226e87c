// LIBSVM's row in the table of formats, and writing it.

#include <thalweg/base/writer.h>
#include <thalweg/data/libsvm.h>

#include "base/fail.h"
#include "data/formats/format_rows.h"
#include "data/formats/format_values.h"

namespace thalweg::data {
namespace {

class LibsvmWriter final : public SequenceWriter {
 public:
  LibsvmWriter(const std::string& path, const WriteOptions& options)
      : file_(path), streams_(options.streams) {
    base_ = OptionValues("libsvm", options.more).number("index_base", 1);
    if (base_ != 0 && base_ != 1) fail_invalid("libsvm: index_base {} is neither 0 nor 1", base_);
    for (size_t s = 0; s < streams_.size(); ++s) {
      const bool is_label = !streams_[s].sparse && element_count(streams_[s].shape) == 1;
      size_t& place = is_label ? label_ : features_;
      if (place != kNone) fail_streams();
      place = s;
    }
    if (label_ == kNone || features_ == kNone || streams_[features_].shape.size() != 1 ||
        streams_[features_].shape[0] < 0)
      fail_streams();
  }

  void write(const SequenceKey& key, std::span<const StreamValues> values) override {
    require_single_samples("libsvm", key, values);
    text_.clear();
    append_number(text_, streams_[label_].dtype, values[label_].values, 0);
    const StreamInfo& info = streams_[features_];
    const StreamValues& row = values[features_];
    if (info.sparse) {
      for (int64_t i = row.row_starts[0]; i < row.row_starts[1]; ++i)
        add_feature(row.columns[i], row, i);
    } else {
      for (int64_t i = 0; i < info.shape[0]; ++i)
        if (!is_zero(row, i)) add_feature(i, row, i);
    }
    text_ += '\n';
    file_.write(text_);
  }

  void commit() override { file_.commit(); }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  [[noreturn]] void fail_streams() const {
    fail_invalid(
        "libsvm: the format holds a stream of features, sparse or dense [n], and a dense "
        "stream of one number, the label");
  }

  bool is_zero(const StreamValues& row, int64_t i) const {
    return visit_dtype(streams_[features_].dtype, [&](auto zero) {
      return static_cast<float>(static_cast<const decltype(zero)*>(row.values)[i]) == 0;
    });
  }

  void add_feature(int64_t column, const StreamValues& row, int64_t i) {
    fmt::format_to(std::back_inserter(text_), " {}:", column + base_);
    append_number(text_, streams_[features_].dtype, row.values, i);
  }

  AtomicFile file_;
  std::vector<StreamInfo> streams_;
  int64_t base_;
  size_t features_ = kNone;
  size_t label_ = kNone;
  std::string text_;
};

std::shared_ptr<Deserializer> open(const std::string& path, const FormatOptions& options) {
  const OptionValues values("libsvm", options.more);
  LIBSVMOptions libsvm;
  for (const StreamSpec& spec : options.streams) {
    if (spec.sparse) {
      libsvm.features = spec.name;
      libsvm.dim = spec.dim();
    } else {
      libsvm.label = spec.name;
    }
  }
  libsvm.index_base = values.number("index_base", 1);
  libsvm.sort = values.flag("sort", false);
  libsvm.class_names = values.list("classes");
  libsvm.max_errors = options.max_errors;
  return std::make_shared<LIBSVMDeserializer>(path, libsvm);
}

std::unique_ptr<SequenceWriter> create(const std::string& path, const WriteOptions& options) {
  return std::make_unique<LibsvmWriter>(path, options);
}

}  // namespace

Format libsvm_format() {
  Format format;
  format.name = "libsvm";
  format.doc = "rows of `label index:value ...`; streams such as features=F:sparse:100";
  format.extensions = {".svm", ".libsvm", ".svmlight"};
  format.options = {{"index_base", "the number of the first feature: 1 or 0"},
                    {"sort", "true: features of a row may come in any order"},
                    {"classes", "the texts that stand for labels 0, 1, ..., between commas"}};
  format.write_options = {{"index_base", "the number of the first feature: 1 or 0"}};
  format.needs_streams = true;
  format.holds_keys = false;
  format.open = open;
  format.create = create;
  return format;
}

}  // namespace thalweg::data
