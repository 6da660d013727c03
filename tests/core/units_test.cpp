/// Do quantities keep their dimensions, and do the factories scale rightly?
#include "hindsight/core/units.h"

#include <gtest/gtest.h>

#include <concepts>

namespace hindsight {
namespace {

template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept Subtractable = requires(A a, B b) {
  a - b;
};
template <class A, class B>
concept Comparable = requires(A a, B b) {
  a < b;
};

// A mistake in dimensions must not compile.
static_assert(Addable<Seconds, Seconds>);
static_assert(!Addable<Cycles, Seconds>);
static_assert(!Addable<Joules, Watts>);
static_assert(!Addable<Seconds, double>);
static_assert(!Subtractable<Bytes, Ops>);
static_assert(Comparable<Bytes, Bytes>);
static_assert(!Comparable<Bytes, Cycles>);
// Values enter through factories only.
static_assert(!std::constructible_from<Seconds, double>);
static_assert(!std::convertible_to<double, Seconds>);
static_assert(!std::convertible_to<Seconds, double>);

TEST(Units, DimensionsOfQuotientsAndProducts) {
  static_assert(std::same_as<decltype(units::joules(1) / units::seconds(1)), Watts>);
  static_assert(std::same_as<decltype(units::watts(1) * units::seconds(1)), Joules>);
  static_assert(std::same_as<decltype(units::cycles(1) / units::hertz(1)), Seconds>);
  static_assert(std::same_as<decltype(units::bytes(1) / units::bytes(1)), double>);
  // 700 cycles at 700 MHz: 700 / 7e8 = 1e-6 s.
  EXPECT_DOUBLE_EQ((units::cycles(700) / units::megahertz(700)).in(units::microseconds(1)), 1.0);
  // 64 bytes per cycle at 1000 MHz = 64 GB/s.
  EXPECT_DOUBLE_EQ((units::bytes_per_cycle(64) * units::megahertz(1000)).in(units::gb_per_s(1)), 64.0);
}

TEST(Units, FactoriesScaleToTheCoherentUnit) {
  EXPECT_DOUBLE_EQ(units::milliseconds(2).value(), 2e-3);
  EXPECT_DOUBLE_EQ(units::picoseconds(3).value(), 3e-12);
  EXPECT_DOUBLE_EQ(units::kib(228).value(), 233472.0);  // 228 * 1024
  EXPECT_DOUBLE_EQ(units::mib(2).value(), 2097152.0);   // 2 * 1024 * 1024
  EXPECT_DOUBLE_EQ(units::gb_per_s(1).value(), 1e9);    // decimal: GB, not GiB
  EXPECT_DOUBLE_EQ(units::picojoules(5).value(), 5e-12);
  EXPECT_DOUBLE_EQ(units::square_um(1e6).in(units::square_mm(1)), 1.0);
  EXPECT_DOUBLE_EQ(units::milliwatts(250).value(), 0.25);
}

TEST(Units, OneMacIsTwoOps) { EXPECT_DOUBLE_EQ(units::macs(3).value(), 6.0); }

TEST(Units, ArithmeticAndOrder) {
  Seconds total = units::seconds(1);
  total += units::milliseconds(500);
  EXPECT_DOUBLE_EQ(total.value(), 1.5);
  EXPECT_DOUBLE_EQ((total - units::seconds(2)).value(), -0.5);
  EXPECT_DOUBLE_EQ((2.0 * total / 4.0).value(), 0.75);
  EXPECT_LT(units::kib(1), units::mib(1));
  EXPECT_EQ(units::kib(1024), units::mib(1));
}

}  // namespace
}  // namespace hindsight
