/// MAESTRO networks (.m) [paper: maestro]: layers with their types, strides and dimensions; mappings are passed over.
///
/// Read as tolerantly as MAESTRO's own parser: commas and semicolons may be missing, names may be given twice,
/// constants stand for sizes. Inputs are taken as they stand, without padding, which is how MAESTRO counts.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "workload/import/import_parts.h"

namespace hindsight::workload {
namespace {

struct MaestroToken {
  std::string text;  ///< a word, a number, or one character; empty at the end
  std::size_t line = 1, column = 1;
};

/// The tokens of a file, one after the other: all at once would take fifty times its bytes.
class MaestroTokens {
 public:
  MaestroTokens(std::string content, std::string file) : content_(std::move(content)), file_(std::move(file)) {}

  /// The next; at the end one without text, again and again.
  MaestroToken next() {
    while (at_ < content_.size()) {
      const char c = content_[at_];
      if (c == '\n') {
        ++line_;
        line_begin_ = ++at_;
      } else if (c == ' ' || c == '\t' || c == '\r') {
        ++at_;
      } else if (content_.compare(at_, 2, "//") == 0) {
        at_ = std::min(content_.find('\n', at_), content_.size());
      } else if (static_cast<unsigned char>(c) < ' ') {
        fail_import(fmt::format("{}:{}:{}", file_, line_, at_ - line_begin_ + 1),
                    "a control character (is this a text file?)");
      } else {
        return word();
      }
    }
    return {.text = "", .line = line_, .column = content_.size() - line_begin_ + 1};
  }

 private:
  static bool in_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '\'' || c == '-' || c == '/' || c == '+';
  }
  MaestroToken word() {
    const std::size_t begin = at_++;
    while (in_word(content_[begin]) && at_ < content_.size() && in_word(content_[at_]) &&
           content_.compare(at_, 2, "//") != 0) {
      ++at_;
    }
    return {.text = content_.substr(begin, at_ - begin), .line = line_, .column = begin - line_begin_ + 1};
  }

  std::string content_, file_;
  std::size_t at_ = 0, line_ = 1, line_begin_ = 0;
};

/// What stands in braces behind Dimensions, Stride or Dilation.
using MaestroSizes = std::map<std::string, std::int64_t>;

struct MaestroLayer {
  std::string name, type, where;
  MaestroSizes dimensions, stride, dilation;
};

class MaestroReader {
 public:
  explicit MaestroReader(const std::filesystem::path& file)
      : file_(printable(file.string(), kWholeText)), tokens_(read_file(file), file_), next_(tokens_.next()) {}

  Gathered read() {
    while (!peek().text.empty()) {
      const MaestroToken token = take();
      if (token.text == "Constant") {
        const std::string name = take().text;
        constants_[name] = number();
        skip(";");
      } else if (token.text == "Network") {
        read_network_block();
      } else if (token.text == "Layer") {
        fail_import(where(token), "a layer outside of a network. Is there a '}' too many before it?");
      } else if (token.text == "}") {
        if (surplus_.empty()) surplus_ = where(token);  // nothing is lost where no layer follows
      } else if (token.text != ";") {
        skip_block(token);  // an accelerator
      }
    }
    finish();
    return std::move(gathered_);
  }

 private:
  [[nodiscard]] const MaestroToken& peek() const { return next_; }
  MaestroToken take() { return std::exchange(next_, tokens_.next()); }
  [[nodiscard]] std::string where(const MaestroToken& token) const {
    return fmt::format("{}:{}:{}", file_, token.line, token.column);
  }
  void expect(std::string_view text, std::string_view after) {
    const MaestroToken token = take();
    if (token.text != text) {
      fail_import(where(token),
                  fmt::format("'{0}' is expected behind {1}, but there is '{2}'. Write '{0}' there?", text, after,
                              token.text.empty() ? "the end of the file" : printable(token.text)));
    }
  }
  void skip(std::string_view text) {
    if (peek().text == text) take();
  }

  /// Passes over everything from a name up to the next block and its end, or to a semicolon.
  void skip_block(const MaestroToken& name) {
    if (name.text == "{") fail_import(where(name), "a '{' without a name before it. Is it one too many?");
    std::int64_t depth = 0;
    while (true) {
      const MaestroToken token = take();
      if (token.text.empty()) {
        if (depth > 0) fail_import(where(token), "the file ends within a block: a '}' is missing. Was it cut off?");
        return;
      }
      if (token.text == "{") ++depth;
      if (token.text == "}" && --depth <= 0) return;
      if (token.text == ";" && depth == 0) return;
    }
  }

  std::int64_t number() {
    const MaestroToken token = take();
    const auto constant = constants_.find(token.text);
    const std::optional<std::int64_t> value = constant != constants_.end() ? constant->second : parse_int(token.text);
    if (!value || *value < 1 || *value > kLargestSize) {
      fail_import(where(token),
                  fmt::format("'{}' is no size in 1..{} and no constant", printable(token.text), kLargestSize));
    }
    return *value;
  }

  void read_network_block() {
    const MaestroToken name = take();
    if (gathered_.name.empty()) gathered_.name = name.text;
    expect("{", "the name of a network");
    while (peek().text != "}") {
      const MaestroToken token = take();
      if (token.text.empty()) {
        fail_import(where(token), "the file ends within a network: a '}' is missing. Was it cut off?");
      }
      if (token.text == "Layer") {
        add(read_layer_block());
      } else if (token.text == "Type" || token.text == "Stride" || token.text == "Dilation" ||
                 token.text == "Dimensions") {
        fail_import(where(token),
                    fmt::format("{} outside of a layer. Is there a '}}' too many before it?", token.text));
      } else if (token.text != ";") {
        skip_block(token);
      }
    }
    take();
  }

  MaestroLayer read_layer_block() {
    MaestroLayer layer;
    const MaestroToken name = take();
    layer.name = name.text;
    layer.where = where(name);
    expect("{", "the name of a layer");
    while (peek().text != "}") {
      const MaestroToken token = take();
      if (token.text.empty()) {
        fail_import(where(token), "the file ends within a layer: a '}' is missing. Was it cut off?");
      }
      if (token.text == "Type") {
        expect(":", "Type");
        layer.type = take().text;
      } else if (token.text == "Stride") {
        layer.stride = read_sizes("Stride");
      } else if (token.text == "Dilation") {
        layer.dilation = read_sizes("Dilation");
      } else if (token.text == "Dimensions") {
        layer.dimensions = read_sizes("Dimensions");
      } else if (token.text != ";") {
        if (token.text != "Dataflow") other_blocks_.insert(token.text);
        skip_block(token);
      }
    }
    take();
    return layer;
  }

  MaestroSizes read_sizes(std::string_view of) {
    MaestroSizes sizes;
    expect("{", of);
    while (peek().text != "}") {
      const MaestroToken name = take();
      if (name.text == "," || name.text == ";") continue;
      if (name.text.empty()) {
        fail_import(where(name), fmt::format("the file ends within {}: a '}}' is missing. Was it cut off?", of));
      }
      expect(":", printable(name.text));
      if (!sizes.emplace(name.text, number()).second) {
        fail_import(where(name), fmt::format("'{}' is given twice. Leave one of them out", printable(name.text)));
      }
    }
    take();
    return sizes;
  }

  static std::int64_t size_of(const MaestroLayer& layer, const MaestroSizes& sizes, const std::string& name,
                              std::optional<std::int64_t> fallback) {
    const auto found = sizes.find(name);
    if (found != sizes.end()) return found->second;
    if (!fallback) {
      fail_import(layer.where,
                  about_layer(layer.name,
                              fmt::format("the dimension {0} is missing. Add it: Dimensions {{ {0}: SIZE }}", name)));
    }
    return *fallback;
  }
  static std::int64_t dimension(const MaestroLayer& layer, const std::string& name,
                                std::optional<std::int64_t> fallback = std::nullopt) {
    return size_of(layer, layer.dimensions, name, fallback);
  }

  void add(const MaestroLayer& from) {
    if (from.type == "GEMM" || from.type == "BMM") {
      keep(from, product(from), 1);
    } else if (from.type == "CONV" || from.type == "FC" || from.type == "DSCONV" || from.type == "NGCONV" ||
               from.type == "TRCONV") {
      keep(from, convolution(from), dimension(from, "N", 1));
    } else if (from.type == "POOL" || from.type == "RESIDUAL_IDENTITY") {
      gathered_.without_macs.add(from.type);
    } else if (from.type == "LSTM") {
      fail_import(from.where,
                  about_layer(from.name, "the type LSTM, whose gates the file does not say. Write them as FC?"));
    } else {
      const std::vector<std::string> known{"CONV", "DSCONV", "NGCONV", "TRCONV", "FC", "GEMM", "BMM", "POOL"};
      fail_import(from.where, about_layer(from.name, fmt::format("unknown type '{}'.{}", printable(from.type),
                                                                 did_you_mean(from.type, known))));
    }
  }

  void keep(const MaestroLayer& from, Layer layer, std::int64_t images) {
    layer.name = from.name;
    layer.has_bias = false;
    gathered_.add({.layer = std::move(layer), .images = images, .where = from.where});
  }

  Layer product(const MaestroLayer& from) {
    Layer layer;
    const bool batched = from.type == "BMM";
    layer.type = batched ? LayerType::matmul : LayerType::fully_connected;
    layer.rows = dimension(from, "M");
    layer.columns = dimension(from, "N");
    layer.reduction = dimension(from, "K");
    if (batched) layer.heads = dimension(from, "B", 1);
    has_gemm_ = has_gemm_ || !batched;
    return layer;
  }

  /// Pixels of the input along one axis: Y, or what Y' outputs need.
  static std::int64_t input_pixels(const MaestroLayer& from, const std::string& axis, std::int64_t kernel,
                                   std::int64_t stride, std::int64_t dilation) {
    const auto outputs = from.dimensions.find(axis + "'");
    if (from.dimensions.contains(axis) || outputs == from.dimensions.end()) return dimension(from, axis, 1);
    const bool fits = outputs->second <= kLargestSize / stride && kernel <= kLargestSize / dilation;
    if (!fits) fail_import(from.where, about_layer(from.name, "an input that is too large"));
    return (outputs->second - 1) * stride + (kernel - 1) * dilation + 1;
  }

  /// DSCONV: K filters per channel. NGCONV: C channels in all, K filters in each of G groups.
  Layer convolution(const MaestroLayer& from) {
    Layer layer;
    layer.in_channels = dimension(from, "C");
    layer.kernel_height = dimension(from, "R", 1);
    layer.kernel_width = dimension(from, "S", 1);
    const bool transposed = from.type == "TRCONV";
    const bool upsamples = transposed && from.stride.empty();
    has_upsampling_ = has_upsampling_ || upsamples;
    layer.stride_height = size_of(from, from.stride, "Y", upsamples ? layer.kernel_height : 1);
    layer.stride_width = size_of(from, from.stride, "X", upsamples ? layer.kernel_width : 1);
    layer.dilation_height = size_of(from, from.dilation, "Y", 1);
    layer.dilation_width = size_of(from, from.dilation, "X", 1);
    layer.in_height = input_pixels(from, "Y", layer.kernel_height, layer.stride_height, layer.dilation_height);
    layer.in_width = input_pixels(from, "X", layer.kernel_width, layer.stride_width, layer.dilation_width);
    layer.groups = from.type == "DSCONV" ? layer.in_channels : dimension(from, "G", 1);
    const std::int64_t filters =
        dimension(from, "K", from.type == "DSCONV" ? std::optional<std::int64_t>(1) : std::nullopt);
    const bool per_group = from.type == "DSCONV" || from.type == "NGCONV";
    if (per_group && filters > kLargestSize / layer.groups) {
      fail_import(from.where, about_layer(from.name, "more output channels than can be counted"));
    }
    layer.out_channels = per_group ? filters * layer.groups : filters;
    if (from.type == "DSCONV") layer.type = LayerType::depthwise_convolution;
    if (transposed) layer.type = LayerType::transposed_convolution;
    return layer;
  }

  void finish() {
    std::vector<std::string>& remarks = gathered_.remarks;
    remarks.emplace_back(
        "inputs are taken as they stand, without padding, which is how MAESTRO counts; parameters are weights alone");
    if (!surplus_.empty()) remarks.push_back(surplus_ + ": a '}' that closes nothing. Is one before it too many?");
    if (has_upsampling_) remarks.emplace_back("a TRCONV without a stride moves by its kernel");
    if (has_gemm_) {
      remarks.emplace_back("every GEMM is taken as one with trained weights: the format cannot say which are not");
    }
    if (!other_blocks_.empty()) {
      remarks.push_back(
          fmt::format("ignored in layers: {}",
                      printable(join(std::vector<std::string>(other_blocks_.begin(), other_blocks_.end()), ", "))));
    }
  }

  std::string file_;
  std::string surplus_;  ///< where a brace closes nothing
  MaestroTokens tokens_;
  MaestroToken next_;
  std::map<std::string, std::int64_t> constants_;
  std::set<std::string> other_blocks_;
  bool has_gemm_ = false, has_upsampling_ = false;
  Gathered gathered_;
};

}  // namespace

Gathered gather_maestro(const std::filesystem::path& file) { return MaestroReader(file).read(); }

}  // namespace hindsight::workload
