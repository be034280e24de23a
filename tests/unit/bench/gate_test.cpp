// Gates: what they accept, what they refuse, when they hold.
#include "bench/gate.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

using namespace pterun;
using namespace pterun::bench;

TEST_CASE("a relative gate holds beyond its share of the baseline") {
  const auto gate = parse_gate("p50>+3%");
  REQUIRE(gate.has_value());
  CHECK(gate->metric == GateMetric::kP50);
  CHECK(gate->relative);
  CHECK(gate->limit == Catch::Approx(0.03));
  CHECK_FALSE(gate->holds(102, 100));
  CHECK(gate->holds(104, 100));
  const auto faster = parse_gate("mean<-10%");
  REQUIRE(faster.has_value());
  CHECK(faster->holds(89, 100));
  CHECK_FALSE(faster->holds(91, 100));
}

TEST_CASE("an absolute gate has a time or a size") {
  CHECK(parse_gate("load>20ms")->limit == Catch::Approx(20e6));
  CHECK(parse_gate("first>1.5s")->limit == Catch::Approx(1.5e9));
  CHECK(parse_gate("p99>7us")->limit == Catch::Approx(7e3));
  CHECK(parse_gate("min<250ns")->holds(249, 0));
  CHECK(parse_gate("peak_rss>2MiB")->limit == Catch::Approx(2 * 1048576));
}

TEST_CASE("anything else is refused with what was expected") {
  for (const char* text : {"", "p50", "p50=3%", "p51>+3%", ">+3%", "p50>3%", "p50>+x%", "p50>5", "p50>+inf%",
                           "p50>1MiB", "peak_rss>5ms", "p50>nanms", "p50>+3%%"}) {
    CAPTURE(text);
    const auto gate = parse_gate(text);
    REQUIRE_FALSE(gate.has_value());
    CHECK(gate.error().code == ErrorCode::kUsage);
    CHECK(gate.error().message.find(std::string("'") + text + "'") != std::string::npos);
    CHECK_FALSE(gate.error().hint.empty());
  }
}
