#pragma once

// The formats over any source of bytes, e.g. memory.

#include <memory>
#include <vector>

#include <thalweg/data/cbf.h>
#include <thalweg/data/csv.h>
#include <thalweg/data/libsvm.h>
#include <thalweg/data/text.h>

#include "data/formats/byte_source.h"

namespace thalweg::data {

std::unique_ptr<Deserializer> make_cbf(std::unique_ptr<ByteSource> source,
                                       const std::vector<CbfStream>& streams);
std::unique_ptr<Deserializer> make_csv(std::unique_ptr<ByteSource> source,
                                       std::vector<CSVStream> streams, CSVOptions options);
std::unique_ptr<Deserializer> make_text(std::unique_ptr<ByteSource> source, TextOptions options);
std::unique_ptr<Deserializer> make_libsvm(std::unique_ptr<ByteSource> source,
                                          LIBSVMOptions options);

}  // namespace thalweg::data
