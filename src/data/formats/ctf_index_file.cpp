#include "data/formats/ctf_index_file.h"

#include <filesystem>

#include <fmt/format.h>

#include <thalweg/base/checksum.h>
#include <thalweg/base/file.h>
#include <thalweg/base/log.h>
#include <thalweg/base/reader.h>
#include <thalweg/base/writer.h>

#include "base/fail.h"

namespace thalweg::data {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMagic = 0x3158444966746354;      // "TctfIDX1"
constexpr uint64_t kCntkMagic = 0x636e746b5f696478;  // "xdi_ktnc"
constexpr size_t kCntkRecord = 32;

// Everything that the place of blocks depends on, as text.
std::string signature(const CtfRules& rules, const CtfIndexOptions& options) {
  std::string text = fmt::format("{} {} {} {} {}", rules.compat, rules.skip_sequence_ids,
                                 rules.counting, options.block_bytes, options.block_cost);
  if (rules.compat && rules.counting >= 0)
    text += " " + rules.streams[static_cast<size_t>(rules.counting)].field;
  if (options.block_cost == SIZE_MAX) return text;
  for (const CtfStream& stream : rules.streams)
    text += fmt::format(" {} {} {}", stream.dim, stream.sparse, name(stream.dtype));
  return text;
}

// Numbers one after another, lowest byte first.
class Bin {
 public:
  explicit Bin(Bytes bytes) : reader_(bytes, "index") {}
  uint64_t next() { return reader_.read_le<uint64_t>(); }
  uint64_t left() const { return reader_.remaining().value(); }

 private:
  MemoryReader reader_;
};

bool is_within(const CtfRange& range, uint64_t size) {
  return range.size > 0 && range.size <= size && range.offset <= size - range.size;
}

CtfIndexData parse(std::string_view content, const FileStamp& stamp, uint64_t text_size) {
  if (content.size() < 12) fail_io("it is cut short");
  const Bytes bytes = as_bytes(content);
  const Bytes body = bytes.first(bytes.size() - 4);
  if (load_le<uint32_t>(body.data() + body.size()) != crc32c(body))
    fail_io("its checksum is wrong");
  Bin in(body);
  if (in.next() != kMagic) fail_io("it has another magic number");
  if (FileStamp{in.next(), static_cast<int64_t>(in.next())} != stamp)
    fail_io("it is of another state of the file");
  CtfIndexData data;
  const uint64_t mode = in.next();
  if (mode != static_cast<uint64_t>(CtfMode::lines) && mode != static_cast<uint64_t>(CtfMode::ids))
    fail_io("it is of rows of no known kind");
  data.mode = static_cast<CtfMode>(mode);
  data.has_lines = in.next() != 0;
  const uint64_t blocks = in.next();
  if (blocks > in.left() / 40 || in.left() != blocks * 40) fail_io("its size is wrong");
  if (blocks == 0) fail_io("it holds nothing");
  uint64_t sequence = 0, end = 0;
  for (uint64_t i = 0; i < blocks; ++i) {
    CtfRange block{in.next(),
                   in.next(),
                   in.next(),
                   sequence,
                   static_cast<uint32_t>(in.next()),
                   static_cast<uint32_t>(in.next())};
    if (block.sequences == 0 || block.offset < end || !is_within(block, text_size))
      fail_io("it is of another file");
    end = block.offset + block.size;
    sequence += block.sequences;
    data.blocks.push_back(block);
  }
  return data;
}

std::string cntk_index_path(const std::string& path, const CtfRules& rules) {
  const std::string main =
      rules.counting < 0 ? "_" : rules.streams[static_cast<size_t>(rules.counting)].field;
  return fmt::format("{}.{}.{}.0.0.v1.cache", path, main, rules.skip_sequence_ids ? 1 : 0);
}

void add_to_blocks(CtfIndexData& data, const CtfRange& one, const CtfRules& rules,
                   const CtfIndexOptions& options) {
  if (!data.blocks.empty()) {
    CtfRange grown = data.blocks.back();
    grown.append(one);
    if (grown.size <= options.block_bytes && ctf_cost(rules, grown) <= options.block_cost) {
      data.blocks.back() = grown;
      return;
    }
  }
  data.blocks.push_back(one);
}

CtfIndexData parse_cntk(std::string_view content, const CtfRules& rules, const FileStamp& stamp,
                        const CtfIndexOptions& options) {
  if (content.size() < kCntkRecord) fail_io("it is cut short");
  const std::byte* at = as_bytes(content).data();
  const auto number = [&](size_t place) { return load_le<uint64_t>(at + place); };
  const uint64_t sequences = number(16);
  if (number(0) != kCntkMagic || number(8) != 1 || number(24) != kCntkRecord)
    fail_io("it is no index of version 1");
  if (sequences == 0 || content.size() / kCntkRecord - 1 < sequences ||
      content.size() % kCntkRecord != 0)
    fail_io("its size is wrong");
  CtfIndexData data;
  data.mode = CtfMode::ids;
  data.has_lines = false;
  uint64_t end = 0;
  for (uint64_t i = 0; i < sequences; ++i) {
    at += kCntkRecord;
    const CtfRange one{number(16), load_le<uint32_t>(at + 24), 0, i, 1, load_le<uint32_t>(at + 8)};
    if (one.offset < end || !is_within(one, stamp.size)) fail_io("it is of another file");
    end = one.offset + one.size;
    add_to_blocks(data, one, rules, options);
  }
  return data;
}

// Whether each row is a sequence of its own cannot be told from CNTK's index.
CtfMode mode_of(const std::string& path, const CtfRules& rules, uint64_t first) {
  if (rules.skip_sequence_ids) return CtfMode::lines;
  std::byte byte{};
  File(path).read_at(first, {&byte, 1});
  return ctf::is_digit(static_cast<char>(byte)) ? CtfMode::ids : CtfMode::lines;
}

std::optional<CtfIndexData> read_cntk(const std::string& path, const CtfRules& rules,
                                      const FileStamp& stamp, const CtfIndexOptions& options) {
  const std::string index = cntk_index_path(path, rules);
  if (!fs::exists(index) || stamp_of(index).time_ns < stamp.time_ns) return std::nullopt;
  try {
    CtfIndexData data = parse_cntk(read_file(index), rules, stamp, options);
    data.mode = mode_of(path, rules, data.blocks[0].offset);
    // Rows that CNTK counts and the strict grammar does not: blank ones.
    if (data.mode == CtfMode::lines && !rules.compat) return std::nullopt;
    return data;
  } catch (const Error& error) {
    log(LogLevel::warn, fmt::format("{}: CNTK's index is not used: {}", index, error.what()));
    return std::nullopt;
  }
}

}  // namespace

std::string ctf_index_path(const std::string& path, const CtfRules& rules,
                           const CtfIndexOptions& options) {
  const std::string about = signature(rules, options);
  if (options.folder.empty()) return fmt::format("{}.{:08x}.index", path, crc32c(as_bytes(about)));
  const std::string whole = fs::absolute(path).lexically_normal().string() + "\n" + about;
  return (fs::path(options.folder) / fmt::format("{}.{:08x}.index",
                                                 fs::path(path).filename().string(),
                                                 crc32c(as_bytes(whole))))
      .string();
}

std::optional<CtfIndexData> read_ctf_index(const std::string& path, const CtfRules& rules,
                                           const FileStamp& stamp, const CtfIndexOptions& options) {
  const std::string index = ctf_index_path(path, rules, options);
  if (options.keep && fs::exists(index)) {
    try {
      return parse(read_file(index), stamp, options.text_size);
    } catch (const Error& error) {
      log(LogLevel::info, fmt::format("{}: the index is made anew: {}", index, error.what()));
    }
  }
  return read_cntk(path, rules, stamp, options);
}

void write_ctf_index(const std::string& path, const CtfRules& rules, const FileStamp& stamp,
                     const CtfIndexOptions& options, const CtfIndexData& data) {
  if (!options.keep) return;
  MemoryWriter out;
  for (const uint64_t number :
       {kMagic, stamp.size, static_cast<uint64_t>(stamp.time_ns), static_cast<uint64_t>(data.mode),
        uint64_t{data.has_lines}, uint64_t{data.blocks.size()}})
    out.write_le(number);
  for (const CtfRange& block : data.blocks) {
    for (const uint64_t number :
         {block.offset, block.size, block.line, uint64_t{block.sequences}, uint64_t{block.rows}})
      out.write_le(number);
  }
  const uint32_t checksum = crc32c(out.bytes());
  out.write_le(checksum);
  const std::string index = ctf_index_path(path, rules, options);
  try {
    if (!options.folder.empty()) fs::create_directories(options.folder);
    AtomicFile file(index);
    file.write(out.bytes());
    file.commit();
  } catch (const std::exception& error) {
    log(LogLevel::info, fmt::format("{}: the index is not kept: {}", index, error.what()));
  }
}

}  // namespace thalweg::data
