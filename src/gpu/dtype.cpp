/// Names, sizes and classes of number formats.
#include "hindsight/gpu/dtype.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::gpu {

std::string_view to_string(DType dtype) {
  switch (dtype) {
    case DType::fp32:
      return "fp32";
    case DType::tf32:
      return "tf32";
    case DType::fp16:
      return "fp16";
    case DType::bf16:
      return "bf16";
    case DType::fp8:
      return "fp8";
    case DType::int8:
      return "int8";
  }
  return "?";
}

std::string_view to_string(DTypeClass dtype_class) {
  return dtype_class == DTypeClass::cuda_core ? "cuda_core" : "tensor_core";
}

DType parse_dtype(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, DType>, 6> kOtherNames{{{"bfloat16", DType::bf16},
                                                                                  {"float16", DType::fp16},
                                                                                  {"half", DType::fp16},
                                                                                  {"float32", DType::fp32},
                                                                                  {"float", DType::fp32},
                                                                                  {"e4m3", DType::fp8}}};
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::vector<std::string> names;
  for (const DType dtype : kAllDTypes) {
    if (lower == to_string(dtype)) {
      return dtype;
    }
    names.emplace_back(to_string(dtype));
  }
  for (const auto& [name, dtype] : kOtherNames) {
    if (lower == name) {
      return dtype;
    }
  }
  throw Error(ErrorKind::usage,
              fmt::format("unknown number format '{}'.{}", printable(text), did_you_mean(lower, names)));
}

}  // namespace hindsight::gpu
