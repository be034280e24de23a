// Slices, selections, splits, diagonals and windows against index arithmetic, in several dim orders.
#include <catch2/catch_all.hpp>

#include "move_checks.h"

using namespace pterun;
using namespace pterun::test;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("slice_copy takes Python's slice") {
  struct Slice {
    std::int64_t start, end, step, count, first;
  };
  for (const Slice& s :
       {Slice{1, 4, 1, 3, 1}, Slice{0, INT64_MAX, 2, 3, 0}, Slice{-2, -1, 1, 1, 3}, Slice{-9, 9, 4, 2, 0},
        Slice{3, 1, 1, 0, 3}, Slice{4, 5, INT64_MAX, 1, 4}, Slice{7, 9, 1, 0, 5}}) {
    CAPTURE(s.start, s.end, s.step);
    check_moves(
        "aten::slice_copy.Tensor_out", DType::kFloat32, {2, 5, 3}, {2, s.count, 3},
        [&](OperatorCall& c) { c.integer(1).integer(s.start).integer(s.end).integer(s.step); },
        [&](const Index& i) { return Index{i[0], s.first + (i[1] == 0 ? 0 : i[1] * s.step), i[2]}; });
  }
  check_moves(
      "aten::slice_copy.Tensor_out", DType::kInt64, {2, 5}, {2, 5},
      [](OperatorCall& c) { c.integer(-1).none().none().integer(1); }, [](const Index& i) { return i; });
}

TEST_CASE("slice_copy refuses steps below one and inputs without dimensions") {
  HostTensor input = make_tensor(DType::kFloat32, {3}, {1, 2, 3});
  HostTensor scalar = make_tensor(DType::kFloat32, {}, {1});
  HostTensor output = make_output(DType::kFloat32, {3});
  OperatorCall step("aten::slice_copy.Tensor_out");
  step.tensor(input).integer(0).integer(0).integer(3).integer(0).tensor(output);
  CHECK_THAT(error_of(step), ContainsSubstring("a step of 0"));
  OperatorCall rank("aten::slice_copy.Tensor_out");
  rank.tensor(scalar).integer(0).integer(0).integer(3).integer(1).tensor(output);
  CHECK_THAT(error_of(rank), ContainsSubstring("no dimension"));
}

TEST_CASE("select_copy takes one index and names one that is out of range") {
  check_moves(
      "aten::select_copy.int_out", DType::kFloat16, {2, 3, 4}, {2, 4},
      [](OperatorCall& c) { c.integer(1).integer(-1); }, [](const Index& i) { return Index{i[0], 2, i[1]}; });
  check_moves(
      "aten::select_copy.int_out", DType::kInt8, {3}, {}, [](OperatorCall& c) { c.integer(0).integer(1); },
      [](const Index&) { return Index{1}; });
  HostTensor input = make_tensor(DType::kFloat32, {2, 3}, counting({2, 3}));
  HostTensor output = make_output(DType::kFloat32, {2});
  OperatorCall call("aten::select_copy.int_out");
  call.tensor(input).integer(1).integer(3).tensor(output);
  CHECK(error_of(call) == "aten::select_copy.int_out: index 3 is out of range for dimension 1 of size 3");
}

TEST_CASE("narrow_copy takes a range that fits") {
  check_moves(
      "aten::narrow_copy.out", DType::kFloat32, {2, 5}, {2, 2},
      [](OperatorCall& c) { c.integer(1).integer(-3).integer(2); },
      [](const Index& i) { return Index{i[0], i[1] + 2}; });
  check_moves(
      "aten::narrow_copy.out", DType::kFloat32, {5}, {0}, [](OperatorCall& c) { c.integer(0).integer(5).integer(0); },
      [](const Index& i) { return i; });
  HostTensor input = make_tensor(DType::kFloat32, {5}, counting({5}));
  HostTensor output = make_output(DType::kFloat32, {2});
  for (const auto& [start, length] : {std::pair{4, 2}, {6, 0}, {-6, 1}, {0, -1}}) {
    OperatorCall call("aten::narrow_copy.out");
    call.tensor(input).integer(0).integer(start).integer(length).tensor(output);
    CHECK_THAT(error_of(call), ContainsSubstring("do not fit dimension 0 of size 5"));
  }
}

namespace {

// Splits counting values of {2, 5, 3} along dimension 1 into `sizes`.
void check_split(const char* name, const std::vector<std::int64_t>& sizes, DType dtype,
                 const std::function<void(OperatorCall&)>& arguments) {
  const Shape from = {2, 5, 3};
  for (const DimOrder& order : some_orders(3)) {
    HostTensor input = make_tensor(dtype, from, order, counting(from));
    std::vector<HostTensor> outputs;
    std::vector<HostTensor*> pointers;
    for (const std::int64_t size : sizes)
      outputs.push_back(make_output(dtype, {2, size, 3}));
    for (HostTensor& output : outputs)
      pointers.push_back(&output);
    OperatorCall call(name);
    call.tensor(input);
    arguments(call);
    REQUIRE_RESULT(call.tensors(pointers).run());
    std::int64_t start = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      CHECK(values_of(outputs[i]) == moved({2, sizes[i], 3}, from, counting(from), [&](const Index& index) {
              return Index{index[0], index[1] + start, index[2]};
            }));
      start += sizes[i];
    }
  }
}

}  // namespace

TEST_CASE("splits give consecutive pieces") {
  check_split("aten::split_with_sizes_copy.out", {1, 0, 4}, DType::kFloat32,
              [](OperatorCall& c) { c.integers({1, 0, 4}).integer(1); });
  check_split("aten::split_copy.Tensor_out", {2, 2, 1}, DType::kInt16,
              [](OperatorCall& c) { c.integer(2).integer(-2); });
  check_split("aten::split_copy.Tensor_out", {5}, DType::kInt16, [](OperatorCall& c) { c.integer(9).integer(1); });
}

TEST_CASE("splits refuse sizes that do not add up and lists of another length") {
  HostTensor input = make_tensor(DType::kFloat32, {5}, counting({5}));
  HostTensor first = make_output(DType::kFloat32, {2});
  HostTensor second = make_output(DType::kFloat32, {2});
  const auto call = [&](const std::vector<std::int64_t>& sizes) {
    OperatorCall split("aten::split_with_sizes_copy.out");
    split.tensor(input).integers(sizes).integer(0).tensors({&first, &second});
    return error_of(split);
  };
  CHECK_THAT(call({2, 2}), ContainsSubstring("do not add up to dimension 0 of float32[5]"));
  CHECK_THAT(call({6, -1}), ContainsSubstring("do not add up"));
  CHECK_THAT(call({2, 2, 1}), ContainsSubstring("gives 3 outputs, the call has 2"));
  OperatorCall split("aten::split_copy.Tensor_out");
  split.tensor(input).integer(0).integer(0).tensors({&first, &second});
  CHECK_THAT(error_of(split), ContainsSubstring("pieces of 0"));
}

TEST_CASE("unbind_copy gives one tensor an index") {
  const Shape from = {2, 3, 2};
  for (const DimOrder& order : some_orders(3)) {
    HostTensor input = make_tensor(DType::kInt32, from, order, counting(from));
    std::vector<HostTensor> outputs;
    for (int i = 0; i < 3; ++i)
      outputs.push_back(make_output(DType::kInt32, {2, 2}));
    REQUIRE_RESULT(OperatorCall("aten::unbind_copy.int_out")
                       .tensor(input)
                       .integer(-2)
                       .tensors({&outputs[0], &outputs[1], &outputs[2]})
                       .run());
    for (std::int64_t i = 0; i < 3; ++i) {
      CHECK(values_of(outputs[static_cast<std::size_t>(i)]) ==
            moved({2, 2}, from, counting(from), [&](const Index& index) { return Index{index[0], i, index[1]}; }));
    }
  }
}

TEST_CASE("as_strided_copy reads memory by stride and offset") {
  HostTensor input = make_tensor(DType::kFloat32, {12}, counting({12}));
  HostTensor output = make_output(DType::kFloat32, {3, 2});
  REQUIRE_RESULT(OperatorCall("aten::as_strided_copy.out")
                     .tensor(input)
                     .integers({3, 2})
                     .integers({2, 3})
                     .integer(4)
                     .tensor(output)
                     .run());
  CHECK(values_of(output) == std::vector<double>{4, 7, 6, 9, 8, 11});
  for (const std::int64_t offset : {5, -1}) {
    OperatorCall call("aten::as_strided_copy.out");
    call.tensor(input).integers({3, 2}).integers({2, 3}).integer(offset).tensor(output);
    CHECK_THAT(error_of(call), ContainsSubstring("leave the memory of float32[12]"));
  }
  OperatorCall overflow("aten::as_strided_copy.out");
  overflow.tensor(input).integers({3, 2}).integers({INT64_MAX, 3}).none().tensor(output);
  CHECK_THAT(error_of(overflow), ContainsSubstring("leave the memory"));
}

TEST_CASE("diagonal_copy moves a diagonal to the end") {
  check_moves(
      "aten::diagonal_copy.out", DType::kFloat32, {3, 2, 4}, {2, 3},
      [](OperatorCall& c) { c.integer(1).integer(0).integer(-1); },
      [](const Index& i) { return Index{i[1], i[0], i[1] + 1}; });
  check_moves(
      "aten::diagonal_copy.out", DType::kFloat32, {4, 2}, {2},
      [](OperatorCall& c) { c.integer(-2).integer(0).integer(1); },
      [](const Index& i) { return Index{i[0] + 2, i[0]}; });
  check_moves(
      "aten::diagonal_copy.out", DType::kFloat32, {4, 2}, {0},
      [](OperatorCall& c) { c.integer(-9).integer(0).integer(1); }, [](const Index& i) { return i; });
  HostTensor input = make_tensor(DType::kFloat32, {2, 2}, counting({2, 2}));
  HostTensor output = make_output(DType::kFloat32, {2});
  OperatorCall call("aten::diagonal_copy.out");
  call.tensor(input).integer(0).integer(1).integer(-1).tensor(output);
  CHECK_THAT(error_of(call), ContainsSubstring("two different dimensions"));
}

TEST_CASE("unfold_copy gives windows, of a number too") {
  check_moves(
      "aten::unfold_copy.out", DType::kFloat32, {2, 7}, {2, 3, 3},
      [](OperatorCall& c) { c.integer(1).integer(3).integer(2); },
      [](const Index& i) { return Index{i[0], i[1] * 2 + i[2]}; });
  check_moves(
      "aten::unfold_copy.out", DType::kInt8, {}, {1}, [](OperatorCall& c) { c.integer(0).integer(1).integer(1); },
      [](const Index&) { return Index{}; });
  HostTensor input = make_tensor(DType::kFloat32, {3}, counting({3}));
  HostTensor output = make_output(DType::kFloat32, {1, 4});
  for (const auto& [size, step] : {std::pair{4, 1}, {2, 0}, {-1, 1}}) {
    OperatorCall call("aten::unfold_copy.out");
    call.tensor(input).integer(0).integer(size).integer(step).tensor(output);
    CHECK_THAT(error_of(call), ContainsSubstring("do not fit dimension 0 of float32[3]"));
  }
}
