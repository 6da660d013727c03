/// GEMM predictions as JSON.
#include "hindsight/core/provenance.h"
#include "hindsight/core/units.h"
#include "hindsight/report/gemm.h"
#include "report/gemm_fields.h"

namespace hindsight::report {
namespace {

Json header() { return {{"hindsight_version", build_info().version}, {"commit", build_info().commit}}; }

Json gpu_json(const CalibratedGpu& gpu) {
  return {{"gpu", gpu.spec.name}, {"title", gpu.spec.title}, {"tdp_w", gpu.spec.tdp_w}};
}

}  // namespace

std::string gemm_json(const GemmReport& report) {
  Json json = header();
  json["gemm"] = gemm_fields_json(report.gemm);
  json["mode"] = gpu::to_string(report.mode);
  json["operand_bytes"] = gpu::compulsory_bytes(report.gemm);
  json["gpus"] = Json::array();
  for (const GemmOnGpu& on : report.gpus) {
    Json entry = gpu_json(on.gpu);
    entry.update(prediction_json(on.prediction));
    entry["roofline_us"] = on.roofline_s / units::kMicro;
    entry["latency_without_lock_us"] = without_lock_json(on.without_lock_s);
    entry["fits_memory"] = on.fits_memory;
    entry["calibration"] = calibration_json(on.gpu);
    for (const gpu::GemmPrediction& candidate : on.candidates) {
      entry["candidates"].push_back(prediction_json(candidate));
    }
    json["gpus"].push_back(std::move(entry));
  }
  json["correction_off"] = Json::array();
  for (const GemmOnGpu* on : uncorrected_among_corrected(report)) json["correction_off"].push_back(on->gpu.spec.name);
  json["left_out"] = report.left_out;
  return to_text(json);
}

std::string networks_gemm_json(const std::vector<NetworkReport>& reports) {
  Json json = header();
  json["workloads"] = Json::array();
  for (const NetworkReport& report : reports) {
    const workload::Network& network = *report.network;
    Json entry{{"workload", network.name()},
               {"batch", network.batch()},
               {"dtype", gpu::to_string(report.dtype)},
               {"quantise", gpu::to_string(report.quantisation)},
               {"mode", gpu::to_string(report.mode)}};
    entry["gpus"] = Json::array();
    for (const NetworkOnGpu& on : report.gpus) {
      const gpu::NetworkPrediction& p = on.prediction;
      Json result = gpu_json(on.gpu);
      result.update(Json{{"devices", on.devices},
                         {"resident_bytes", on.resident_bytes},
                         {"fits_memory", on.fits()},
                         {"latency_us", p.latency_s / units::kMicro},
                         {"latency_without_lock_us", without_lock_json(on.without_lock_s)},
                         {"power_w", p.average_power_w()},
                         {"least_limit_w", least_limit_json(p.least_limit_w)},
                         {"energy_mj", p.energy_j / units::kMilli},
                         {"energy_per_inference_mj", p.energy_j / static_cast<double>(network.batch()) / units::kMilli},
                         {"tflops", p.ops_per_s() / units::kTera},
                         {"dram_bytes", p.dram_bytes},
                         {"other_latency_us", p.other_latency_s / units::kMicro},
                         {"other_ops", p.other_ops},
                         {"in_validated_range", p.in_validated_range},
                         {"power_in_validated_range", p.power_in_validated_range},
                         {"outside_latency_frac", outside_latency_frac(p)},
                         {"calibration", calibration_json(on.gpu)}});
      result["layers"] = Json::array();
      for (const gpu::LayerPrediction& layer : p.layers) {
        Json row{{"layer", network.layer_of(layer.layer).name}, {"repeat", layer.repeat}};
        row.update(gemm_fields_json(layer.gemm));
        row["output_dtype"] = gpu::to_string(layer.gemm.output.value_or(layer.gemm.dtype));
        row["activation_bytes"] = layer.gemm.activation_bytes;
        row.update(prediction_json(layer.prediction));
        result["layers"].push_back(std::move(row));
      }
      result["others"] = Json::array();
      for (const gpu::OtherLayer& other : p.others) {
        Json row{{"kernel", gpu::to_string(other.kind)},
                 {"layer", network.layer_of(other.layer).name},
                 {"repeat", other.repeat}};
        if (other.grouped) row.update(grouped_fields_json(*other.grouped));
        row.update(other_prediction_json(other.prediction));
        result["others"].push_back(std::move(row));
      }
      entry["gpus"].push_back(std::move(result));
    }
    entry["left_out"] = report.left_out;
    json["workloads"].push_back(std::move(entry));
  }
  return to_text(json);
}

}  // namespace hindsight::report
