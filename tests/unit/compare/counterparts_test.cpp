// Pairing results with those of a reference that computes the same by other operators, on small graphs made by hand.
#include "compare/counterparts.h"

#include <cmath>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace pterun;
using namespace pterun::compare;

namespace {

constexpr double kAllowed = 1e-3;

// A reference with its tensors, and a program whose results are added one after the other.
class Graphs {
 public:
  // Returns the index of the reference result.
  std::size_t reference(const std::string& name, const Shape& shape, const std::vector<float>& elements,
                        std::vector<std::size_t> reads) {
    HostTensor tensor = *HostTensor::allocate(DType::kFloat32, shape);
    std::copy(elements.begin(), elements.end(), tensor.view().mutable_data<float>());
    bool uniform = true;
    for (const float element : elements)
      uniform = uniform && element == elements.front();
    tensors_.push_back(std::move(tensor));
    references_.push_back({operator_family(name), std::move(reads), uniform});
    return tensors_.size() - 1;
  }
  void begin() { finder.begin_step(references_); }
  std::size_t input(std::size_t reference) {
    finder.add_input(reference);
    return finder.size() - 1;
  }
  // Returns the index of the watched result.
  std::size_t watched(const std::string& name, const Shape& shape, std::vector<double> elements,
                      std::vector<std::size_t> reads, double allowed = kAllowed) {
    TensorProbe probe(*this, shape, elements, allowed);
    finder.add({operator_family(name), std::move(reads)}, &probe);
    return finder.size() - 1;
  }
  // The reference result that a watched one equals, or -1.
  int paired(std::size_t watched) const {
    const auto& found = finder.counterpart(watched);
    return found ? static_cast<int>(found->reference) : -1;
  }

  CounterpartFinder finder;

 private:
  class TensorProbe final : public Probe {
   public:
    TensorProbe(Graphs& graphs, const Shape& shape, const std::vector<double>& elements, double allowed)
        : graphs_(graphs), shape_(shape), elements_(elements), allowed_(allowed) {}
    bool fits(std::size_t reference) override { return !choices(reference).empty(); }
    std::optional<Counterpart> agreement(std::size_t reference) override {
      const auto found = compare::agreement(elements_, tensor(reference), choices(reference), allowed_);
      if (!found) return std::nullopt;
      return Counterpart{0, reference, found->arrangement, found->max_abs, 0, allowed_};
    }
    Counterpart distance(std::size_t reference) override {
      const auto found = closest(elements_, tensor(reference), choices(reference));
      return {0, reference, found.arrangement, found.difference.max_abs, found.difference.rmse, allowed_};
    }
    bool surely_differs(std::size_t reference) override {
      std::vector<double> other(tensor(reference).data<float>(), tensor(reference).data<float>() + elements_.size());
      std::vector<double> own = elements_;
      std::sort(own.begin(), own.end());
      std::sort(other.begin(), other.end());
      return own != other;
    }

   private:
    const Tensor& tensor(std::size_t reference) const { return graphs_.tensors_[reference].view(); }
    std::vector<Arrangement> choices(std::size_t reference) const {
      return arrangements(shape_, tensor(reference).shape());
    }
    Graphs& graphs_;
    const Shape& shape_;
    const std::vector<double>& elements_;
    double allowed_;
  };

  std::vector<HostTensor> tensors_;
  std::vector<ReferenceResult> references_;
};

using Wrong = CounterpartFinder::WrongOutput;

}  // namespace

TEST_CASE("names of the same operator have one family") {
  CHECK(operator_family("aten::add.out") == "add");
  CHECK(operator_family("aten.add.Tensor") == "add");
  CHECK(operator_family("aten.add_.Tensor") == "add");
  CHECK(operator_family("Add") == "add");
  CHECK(operator_family("Conv2d") == operator_family("aten.conv2d.default"));
  CHECK(operator_family("DepthwiseConv2d") == operator_family("aten::convolution.out"));
  CHECK(operator_family("FullyConnected") == operator_family("aten.linear.default"));
  CHECK(operator_family("aten::native_layer_norm.out") == operator_family("aten.layer_norm.default"));
  CHECK(operator_family("aten::permute_copy.out") == operator_family("aten.permute.default"));
  CHECK(operator_family("aten::_native_batch_norm_legit_no_training.out") ==
        operator_family("aten.batch_norm.default"));
  CHECK(operator_family("cond") == "cond");
  CHECK(operator_family("aten::mul.out") != operator_family("aten::add.out"));
}

TEST_CASE("an exact chain pairs one by one") {
  Graphs graphs;
  const auto x = graphs.reference("", {3}, {1, 2, 3}, {});
  const auto first = graphs.reference("aten.mul.Tensor", {3}, {2, 4, 6}, {x});
  const auto second = graphs.reference("aten.add.Tensor", {3}, {3, 5, 7}, {first});
  graphs.begin();
  const auto in = graphs.input(x);
  const auto a = graphs.watched("aten::mul.out", {3}, {2, 4, 6}, {in});
  const auto b = graphs.watched("aten::add.out", {3}, {3, 5, 7.0004}, {a});
  CHECK(graphs.paired(a) == static_cast<int>(first));
  CHECK(graphs.paired(b) == static_cast<int>(second));
  const CounterpartVerdict verdict = graphs.finder.judge({});
  CHECK(verdict.mapped == 2);
  CHECK(verdict.unmapped == 0);
  CHECK(verdict.diverging == 0);
  CHECK_FALSE(verdict.first.has_value());
}

TEST_CASE("a fused node pairs with the last operator that it stands for, and its NHWC result with NCHW") {
  Graphs graphs;
  const auto x = graphs.reference("", {1, 2, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {});
  const auto convolution =
      graphs.reference("aten.conv2d.default", {1, 2, 2, 3}, {-1, 2, 3, 4, -5, 6, 7, 8, -9, 10, 11, 12}, {x});
  const auto relu =
      graphs.reference("aten.relu.default", {1, 2, 2, 3}, {0, 2, 3, 4, 0, 6, 7, 8, 0, 10, 11, 12}, {convolution});
  graphs.begin();
  const auto in = graphs.input(x);
  const auto nhwc = graphs.watched("StaticTranspose", {1, 2, 3, 2}, {1, 7, 2, 8, 3, 9, 4, 10, 5, 11, 6, 12}, {in});
  const auto fused = graphs.watched("Conv2d", {1, 2, 3, 2}, {0, 7, 2, 8, 3, 0, 4, 10, 0, 11, 6, 12}, {nhwc});
  CHECK(graphs.paired(nhwc) == static_cast<int>(x));
  CHECK(graphs.paired(fused) == static_cast<int>(relu));
  CHECK_FALSE(graphs.finder.counterpart(fused)->arrangement.is_plain);
}

TEST_CASE("parts of an operator that was taken apart have no counterpart and do not diverge") {
  Graphs graphs;
  const auto x = graphs.reference("", {3}, {1, 2, 3}, {});
  const auto gelu = graphs.reference("aten.gelu.default", {3}, {0.8f, 1.9f, 2.9f}, {x});
  graphs.begin();
  const auto in = graphs.input(x);
  const auto half = graphs.watched("aten::mul.out", {3}, {0.5, 1, 1.5}, {in});
  const auto erf = graphs.watched("aten::erf.out", {3}, {1.6, 1.9, 1.9333}, {in});
  const auto end = graphs.watched("aten::mul.out", {3}, {0.8, 1.9, 2.9}, {half, erf});
  CHECK(graphs.paired(half) == -1);
  CHECK(graphs.paired(end) == static_cast<int>(gelu));
  const CounterpartVerdict verdict = graphs.finder.judge({});
  CHECK(verdict.unmapped == 2);
  CHECK(verdict.diverging == 0);
}

TEST_CASE("of an operator that was taken apart and is wrong, the part that closes it is compared") {
  Graphs graphs;
  const auto x = graphs.reference("aten.linear.default", {3}, {1, 2, 3}, {});
  const auto gelu = graphs.reference("aten.gelu.default", {3}, {0.8f, 1.9f, 2.9f}, {x});
  const auto last = graphs.reference("aten.sum.default", {}, {5.6f}, {gelu});
  graphs.begin();
  const auto in = graphs.watched("FullyConnected", {3}, {1, 2, 3}, {});
  const auto half = graphs.watched("aten::mul.out", {3}, {0.5, 1, 1.5}, {in});
  const auto erf = graphs.watched("aten::erf.out", {3}, {1.7, 1.9, 1.9333}, {in});
  const auto end = graphs.watched("aten::mul.out", {3}, {0.85, 1.9, 2.9}, {half, erf});
  const auto sum = graphs.watched("aten::sum.out", {}, {5.65}, {end});
  const std::vector<Wrong> wrong = {{sum, last}};
  const CounterpartVerdict verdict = graphs.finder.judge(wrong);
  REQUIRE(verdict.first.has_value());
  CHECK(verdict.first->watched == half);
  CHECK(verdict.first->closing == end);
  REQUIRE(verdict.first->expected.has_value());
  CHECK(verdict.first->expected->reference == gelu);
  CHECK(std::abs(verdict.first->expected->max_abs - 0.05) < 1e-6);
  CHECK(verdict.first->last_agreeing == x);
  CHECK(verdict.first->first_disagreeing == gelu);
}

TEST_CASE("constants that much is equal to pair by what they were computed from") {
  Graphs graphs;
  const auto x = graphs.reference("", {2}, {1, 2}, {});
  const auto first = graphs.reference("aten.zeros_like.default", {2}, {0, 0}, {x});
  const auto middle = graphs.reference("aten.add.Tensor", {2}, {1, 2}, {x, first});
  const auto second = graphs.reference("aten.zeros_like.default", {2}, {0, 0}, {middle});
  const auto third = graphs.reference("aten.neg.default", {2}, {-1, -2}, {middle});
  graphs.begin();
  const auto in = graphs.input(x);
  const auto sum = graphs.watched("aten::add.out", {2}, {1, 2}, {in});
  const auto negative = graphs.watched("aten::neg.out", {2}, {-1, -2}, {sum});
  CHECK(graphs.paired(sum) == static_cast<int>(middle));
  CHECK(graphs.paired(negative) == static_cast<int>(third));
  const auto zeros = graphs.watched("aten::zeros.out", {2}, {0, 0}, {sum});
  CHECK(graphs.paired(zeros) == static_cast<int>(second));
  // Nothing near it is zero.
  const auto other = graphs.watched("aten::zeros.out", {2}, {0, 0}, {negative});
  CHECK(graphs.paired(other) == -1);
}

TEST_CASE("a wrong weight in one branch of two is named, and the other branch agrees") {
  Graphs graphs;
  const auto x = graphs.reference("", {2}, {1, 2}, {});
  const auto left = graphs.reference("aten.linear.default", {2}, {3, 4}, {x});
  const auto right = graphs.reference("aten.linear.default", {2}, {5, 7}, {x});
  const auto both = graphs.reference("aten.add.Tensor", {2}, {8, 11}, {left, right});
  const auto last = graphs.reference("aten.linear.default", {2}, {20, 30}, {both});
  graphs.begin();
  const auto in = graphs.input(x);
  const auto a = graphs.watched("FullyConnected", {2}, {3, 4}, {in});
  const auto b = graphs.watched("FullyConnected", {2}, {5, 7.5}, {in});
  const auto sum = graphs.watched("Add", {2}, {8, 11.5}, {a, b});
  const auto out = graphs.watched("FullyConnected", {2}, {20.5, 30.25}, {sum});
  const std::vector<Wrong> wrong = {{out, last}};
  const CounterpartVerdict verdict = graphs.finder.judge(wrong);
  CHECK(graphs.paired(a) == static_cast<int>(left));
  CHECK(verdict.diverging == 3);
  REQUIRE(verdict.first.has_value());
  CHECK(verdict.first->watched == b);
  CHECK(verdict.first->closing == b);
  CHECK(verdict.first->first_disagreeing == right);
  CHECK(verdict.first->last_agreeing == x);
  CHECK(verdict.first->expected->max_abs == 0.5);
}

TEST_CASE("a wrong last layer is named") {
  Graphs graphs;
  const auto x = graphs.reference("", {2}, {1, 2}, {});
  const auto hidden = graphs.reference("aten.relu.default", {2}, {3, 4}, {x});
  const auto last = graphs.reference("aten.linear.default", {3}, {1, 2, 3}, {hidden});
  graphs.begin();
  const auto in = graphs.input(x);
  const auto a = graphs.watched("Clamp", {2}, {3, 4}, {in});
  const auto out = graphs.watched("FullyConnected", {3}, {1, 2, 9}, {a});
  const CounterpartVerdict verdict = graphs.finder.judge(std::vector<Wrong>{{out, last}});
  REQUIRE(verdict.first.has_value());
  CHECK(verdict.first->watched == out);
  CHECK(verdict.first->last_agreeing == hidden);
  CHECK(verdict.first->first_disagreeing == last);
}

TEST_CASE("an operator that is off although the outputs agree is named when its twin is certain") {
  Graphs graphs;
  const auto x = graphs.reference("", {2}, {1, 2}, {});
  const auto hidden = graphs.reference("aten.linear.default", {2}, {-3, 4}, {x});
  graphs.reference("aten.relu.default", {2}, {0, 4}, {hidden});
  graphs.begin();
  const auto in = graphs.input(x);
  const auto a = graphs.watched("FullyConnected", {2}, {-8, 4}, {in});
  graphs.watched("Clamp", {2}, {0, 4}, {a});
  const CounterpartVerdict verdict = graphs.finder.judge({});
  REQUIRE(verdict.first.has_value());
  CHECK(verdict.diverging == 1);
  CHECK(verdict.first->watched == a);
  CHECK(verdict.first->first_disagreeing == hidden);
}

TEST_CASE("the same elements in an order that no layout explains do not diverge") {
  Graphs graphs;
  const auto x = graphs.reference("", {2}, {1, 2}, {});
  const auto hidden = graphs.reference("aten.linear.default", {4}, {1, 2, 3, 4}, {x});
  graphs.reference("aten.sum.default", {}, {10}, {hidden});
  graphs.begin();
  const auto in = graphs.input(x);
  const auto a = graphs.watched("FullyConnected", {4}, {1, 3, 2, 4}, {in});
  graphs.watched("aten::sum.out", {}, {10}, {a});
  CHECK(graphs.finder.judge({}).diverging == 0);
}

TEST_CASE("what quantisation may add is allowed") {
  Graphs graphs;
  const auto x = graphs.reference("", {2}, {1, 2}, {});
  const auto hidden = graphs.reference("aten.linear.default", {2}, {3, 4}, {x});
  graphs.begin();
  const auto in = graphs.input(x);
  CHECK(graphs.paired(graphs.watched("FullyConnected", {2}, {3.04, 3.97}, {in})) == -1);
  CHECK(graphs.paired(graphs.watched("FullyConnected", {2}, {3.04, 3.97}, {in}, 0.05)) == static_cast<int>(hidden));
}

TEST_CASE("a wrong state is found in the step that wrote it") {
  Graphs graphs;
  const auto x = graphs.reference("", {2}, {1, 2}, {});
  const auto state = graphs.reference("aten.mul.Tensor", {2}, {2, 4}, {x});
  const auto out = graphs.reference("aten.neg.default", {2}, {-1, -2}, {x});
  graphs.begin();
  const auto in = graphs.input(x);
  const auto wrong_state = graphs.watched("aten::mul.out", {2}, {2, 5}, {in});
  graphs.watched("aten::neg.out", {2}, {-1, -2}, {in});
  graphs.begin();  // the same reference, of which only the output matters here
  const auto next = graphs.watched("aten::neg.out", {2}, {-2, -5}, {wrong_state});
  const CounterpartVerdict verdict = graphs.finder.judge(std::vector<Wrong>{{next, out}});
  REQUIRE(verdict.first.has_value());
  CHECK(verdict.first->watched == wrong_state);
  CHECK(verdict.first->first_disagreeing == state);
}

TEST_CASE("a step without a reference and an output of which nothing is known are no divergence") {
  CounterpartFinder finder;
  finder.begin_step({});
  finder.add_input(std::nullopt);
  finder.add({"add", {0}}, nullptr);
  const CounterpartVerdict verdict = finder.judge({});
  CHECK(verdict.mapped + verdict.unmapped + verdict.diverging == 0);
}

TEST_CASE("results that reach a wrong output and are near nothing are named without an operator") {
  Graphs graphs;
  const auto x = graphs.reference("", {2}, {1, 2}, {});
  const auto out = graphs.reference("aten.linear.default", {3}, {1, 2, 3}, {x});
  graphs.begin();
  const auto in = graphs.input(x);
  const auto odd = graphs.watched("FullyConnected", {5}, {1, 2, 3, 4, 5}, {in});
  const CounterpartVerdict verdict = graphs.finder.judge(std::vector<Wrong>{{odd, out}});
  REQUIRE(verdict.first.has_value());
  CHECK_FALSE(verdict.first->expected.has_value());
  CHECK(verdict.first->first_disagreeing == out);
}
