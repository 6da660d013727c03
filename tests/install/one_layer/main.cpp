/// Counts the designs of a shipped space.
#include <hindsight/space/design_space.h>

#include <cstdio>

int main() { std::printf("%d designs\n", static_cast<int>(hindsight::space::load_space("tiny").size().value_or(0))); }
