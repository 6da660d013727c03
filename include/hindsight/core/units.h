/// Physical quantities with compile-time dimensions, so that `Cycles + Seconds` does not compile.
///
/// A Quantity holds one double in the coherent unit of its dimension (s, byte, J, op, cycle, mm2).
/// Values enter only through the factories in `hindsight::units` and leave only through `in()`
/// or `value()`. One multiply-accumulate (MAC) counts as two operations: `kOpsPerMac`.
/// kB = 1000 bytes, KiB = 1024 bytes.
#pragma once

#include <compare>

namespace hindsight {

/// A value with dimension time^T data^D energy^E ops^O cycles^C area^A.
template <int T, int D, int E, int O, int C, int A>
class Quantity {
 public:
  constexpr Quantity() = default;
  /// The value in the coherent unit (s, byte, J, op, cycle, mm2 and their quotients).
  [[nodiscard]] constexpr double value() const { return value_; }
  /// The value expressed in `unit`, e.g. `latency.in(units::milliseconds(1))`.
  [[nodiscard]] constexpr double in(Quantity unit) const { return value_ / unit.value_; }
  static constexpr Quantity from_coherent(double value) {
    Quantity q;
    q.value_ = value;
    return q;
  }

  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity& operator+=(Quantity other) {
    value_ += other.value_;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return from_coherent(a.value_ + b.value_); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return from_coherent(a.value_ - b.value_); }
  friend constexpr Quantity operator*(Quantity a, double s) { return from_coherent(a.value_ * s); }
  friend constexpr Quantity operator*(double s, Quantity a) { return from_coherent(a.value_ * s); }
  friend constexpr Quantity operator/(Quantity a, double s) { return from_coherent(a.value_ / s); }

 private:
  double value_ = 0.0;
};

template <int T, int D, int E, int O, int C, int A, int T2, int D2, int E2, int O2, int C2, int A2>
constexpr auto operator*(Quantity<T, D, E, O, C, A> a, Quantity<T2, D2, E2, O2, C2, A2> b) {
  return Quantity<T + T2, D + D2, E + E2, O + O2, C + C2, A + A2>::from_coherent(a.value() * b.value());
}
/// Quotient of two quantities; equal dimensions give a plain double.
template <int T, int D, int E, int O, int C, int A, int T2, int D2, int E2, int O2, int C2, int A2>
constexpr auto operator/(Quantity<T, D, E, O, C, A> a, Quantity<T2, D2, E2, O2, C2, A2> b) {
  if constexpr (T == T2 && D == D2 && E == E2 && O == O2 && C == C2 && A == A2) {
    return a.value() / b.value();
  } else {
    return Quantity<T - T2, D - D2, E - E2, O - O2, C - C2, A - A2>::from_coherent(a.value() / b.value());
  }
}

using Seconds = Quantity<1, 0, 0, 0, 0, 0>;
using Bytes = Quantity<0, 1, 0, 0, 0, 0>;
using Joules = Quantity<0, 0, 1, 0, 0, 0>;
using Ops = Quantity<0, 0, 0, 1, 0, 0>;
using Cycles = Quantity<0, 0, 0, 0, 1, 0>;
using SquareMm = Quantity<0, 0, 0, 0, 0, 1>;
using Watts = Quantity<-1, 0, 1, 0, 0, 0>;
using Hertz = Quantity<-1, 0, 0, 0, 1, 0>;
using BytesPerSecond = Quantity<-1, 1, 0, 0, 0, 0>;
using BytesPerCycle = Quantity<0, 1, 0, 0, -1, 0>;
using OpsPerSecond = Quantity<-1, 0, 0, 1, 0, 0>;
using JoulesPerByte = Quantity<0, -1, 1, 0, 0, 0>;
using WattsPerSquareMm = Quantity<-1, 0, 1, 0, 0, -1>;

/// Operations per multiply-accumulate.
inline constexpr double kOpsPerMac = 2.0;

namespace units {
constexpr Seconds seconds(double v) { return Seconds::from_coherent(v); }
constexpr Seconds milliseconds(double v) { return Seconds::from_coherent(v * 1e-3); }
constexpr Seconds microseconds(double v) { return Seconds::from_coherent(v * 1e-6); }
constexpr Seconds nanoseconds(double v) { return Seconds::from_coherent(v * 1e-9); }
constexpr Seconds picoseconds(double v) { return Seconds::from_coherent(v * 1e-12); }
constexpr Bytes bytes(double v) { return Bytes::from_coherent(v); }
constexpr Bytes kib(double v) { return Bytes::from_coherent(v * 1024.0); }
constexpr Bytes mib(double v) { return Bytes::from_coherent(v * 1048576.0); }
constexpr Joules joules(double v) { return Joules::from_coherent(v); }
constexpr Joules millijoules(double v) { return Joules::from_coherent(v * 1e-3); }
constexpr Joules picojoules(double v) { return Joules::from_coherent(v * 1e-12); }
constexpr Ops ops(double v) { return Ops::from_coherent(v); }
constexpr Ops macs(double v) { return Ops::from_coherent(v * kOpsPerMac); }
constexpr Cycles cycles(double v) { return Cycles::from_coherent(v); }
constexpr SquareMm square_mm(double v) { return SquareMm::from_coherent(v); }
constexpr SquareMm square_um(double v) { return SquareMm::from_coherent(v * 1e-6); }
constexpr Watts watts(double v) { return Watts::from_coherent(v); }
constexpr Watts milliwatts(double v) { return Watts::from_coherent(v * 1e-3); }
constexpr Hertz hertz(double v) { return Hertz::from_coherent(v); }
constexpr Hertz megahertz(double v) { return Hertz::from_coherent(v * 1e6); }
constexpr BytesPerSecond gb_per_s(double v) { return BytesPerSecond::from_coherent(v * 1e9); }
constexpr BytesPerCycle bytes_per_cycle(double v) { return BytesPerCycle::from_coherent(v); }
constexpr OpsPerSecond tera_ops_per_s(double v) { return OpsPerSecond::from_coherent(v * 1e12); }
}  // namespace units

}  // namespace hindsight
