/// The application table of PRIME's study [paper: prime-2022].
#include "hindsight/workload/prime_applications.h"

#include <array>

namespace hindsight::workload {
namespace {

/// Source: Kumar et al., "Data-driven offline optimization for architecting hardware accelerators", ICLR 2022,
/// table of applications [paper: prime-2022]: (convolutions, depthwise convolutions, fully connected layers),
/// parameters, instructions in bytes, compute operations.
constexpr std::array<PrimeApplication, 9> kApplications{{
    {"mobilenet_edgetpu", {.convolution = 45, .depthwise = 13, .fully_connected = 1}, 3.87, 476736, 1989811168},
    {"mobilenet_v2", {.convolution = 35, .depthwise = 17, .fully_connected = 1}, 3.31, 416032, 609353376},
    {"mobilenet_v3_large", {.convolution = 32, .depthwise = 15, .fully_connected = 17}, 5.20, 1331360, 449219600},
    {"m4", {.convolution = 32, .depthwise = 13, .fully_connected = 2}, 6.23, 317600, 3471920128},
    {"m5", {.convolution = 47, .depthwise = 27, .fully_connected = 0}, 2.16, 328672, 939752960},
    {"m6", {.convolution = 53, .depthwise = 33, .fully_connected = 2}, 0.41, 369952, 228146848},
    {"unet", {.convolution = 35, .depthwise = 0, .fully_connected = 0}, 3.69, 224992, 13707214848},
    {"t_rnn_dec", {.convolution = 0, .depthwise = 0, .fully_connected = 19}, 19.0, 915008, 40116224},
    {"t_rnn_enc", {.convolution = 0, .depthwise = 0, .fully_connected = 18}, 21.62, 909696, 45621248},
}};

}  // namespace

std::span<const PrimeApplication> prime_applications() { return kApplications; }

}  // namespace hindsight::workload
