// index and index_put against index arithmetic: broadcasts, masks, None, negative indices, accumulation, errors.
#include <catch2/catch_all.hpp>

#include "move_checks.h"

using namespace pterun;
using namespace pterun::test;
using Catch::Matchers::ContainsSubstring;

namespace {

// Runs index with every pair of dim orders and compares with the input's element at `source`.
void check_index(const Shape& from, const std::vector<HostTensor*>& indices, const Shape& to,
                 const std::function<Index(const Index&)>& source) {
  for (const DType dtype : {DType::kFloat32, DType::kInt8}) {
    for (const DimOrder& from_order : some_orders(from.rank())) {
      for (const DimOrder& to_order : some_orders(to.rank())) {
        HostTensor self = make_tensor(dtype, from, from_order, counting(from));
        HostTensor output = make_output(dtype, to, to_order);
        REQUIRE_RESULT(
            OperatorCall("aten::index.Tensor_out").tensor(self).optional_tensors(indices).tensor(output).run());
        CHECK(values_of(output) == moved(to, from, counting(from), source));
      }
    }
  }
}

}  // namespace

TEST_CASE("index takes rows, with negative and repeated indices") {
  HostTensor rows = make_int64({3}, {2, -3, 2});
  check_index({3, 4}, {&rows}, {3, 4}, [](const Index& i) { return Index{i[0] == 1 ? 0 : 2, i[1]}; });
  HostTensor narrow = make_tensor(DType::kInt32, {2}, {1, -1});
  check_index({2, 5}, {nullptr, &narrow}, {2, 2}, [](const Index& i) { return Index{i[0], i[1] == 0 ? 1 : 4}; });
}

TEST_CASE("index broadcasts index tensors") {
  HostTensor rows = make_int64({2, 1}, {0, 2});
  HostTensor columns = make_int64({3}, {1, 0, 3});
  check_index({3, 4, 2}, {&rows, &columns}, {2, 3, 2}, [](const Index& i) {
    return Index{i[0] * 2, i[1] == 0 ? 1 : i[1] == 1 ? 0 : 3, i[2]};
  });
  HostTensor wide = make_int64({3, 1, 2}, {0, 1, 2, 3, 0, 1});
  check_index({2, 3, 4}, {nullptr, &rows, &wide}, {2, 3, 2, 2},
              [](const Index& i) { return Index{i[0], i[2] * 2, (i[1] * 2 + i[3]) % 4}; });
}

TEST_CASE("indexed dimensions that are not adjacent come first") {
  HostTensor first = make_int64({2}, {1, 0});
  HostTensor last = make_int64({2}, {3, -1});
  check_index({2, 3, 4}, {&first, nullptr, &last}, {2, 3}, [](const Index& i) { return Index{1 - i[0], i[1], 3}; });
  check_index({2, 3, 4, 2}, {&first, nullptr, &last}, {2, 3, 2},
              [](const Index& i) { return Index{1 - i[0], i[1], 3, i[2]}; });
  check_index({3, 2, 3, 4}, {nullptr, &first, nullptr, &last}, {2, 3, 3},
              [](const Index& i) { return Index{i[1], 1 - i[0], i[2], 3}; });
}

TEST_CASE("masks stand for the indices where they are true") {
  HostTensor mask = make_tensor(DType::kBool, {2, 3}, {0, 1, 0, 1, 0, 1});
  const std::vector<Index> places = {{0, 1}, {1, 0}, {1, 2}};
  check_index({2, 3, 4}, {&mask}, {3, 4}, [&](const Index& i) {
    const Index& place = places[static_cast<std::size_t>(i[0])];
    return Index{place[0], place[1], i[1]};
  });
  HostTensor bytes = make_tensor(DType::kUInt8, {3}, {0, 7, 1});
  check_index({2, 3}, {nullptr, &bytes}, {2, 2}, [](const Index& i) { return Index{i[0], i[1] + 1}; });
  HostTensor self = make_tensor(DType::kFloat32, {2, 3, 4}, counting({2, 3, 4}));
  HostTensor output = make_dynamic_output(DType::kFloat32, {6, 4});
  REQUIRE_RESULT(OperatorCall("aten::index.Tensor_out").tensor(self).optional_tensors({&mask}).tensor(output).run());
  CHECK(output.view().shape() == Shape{3, 4});
}

TEST_CASE("numbers as indices and None alone") {
  HostTensor number = make_int64({}, {1});
  check_index({2, 3}, {nullptr, &number}, {2}, [](const Index& i) { return Index{i[0], 1}; });
  check_index({2, 3}, {nullptr, nullptr}, {2, 3}, [](const Index& i) { return i; });
}

TEST_CASE("many index positions need no more than scratch memory") {
  std::vector<std::int64_t> list;
  for (std::int64_t i = 0; i < 500; ++i)
    list.push_back(i * 7 % 100);
  HostTensor indices = make_int64({500}, list);
  check_index({1, 100}, {nullptr, &indices}, {1, 500}, [](const Index& i) { return Index{0, i[1] * 7 % 100}; });
}

TEST_CASE("index names an index that is out of range and writes nothing") {
  HostTensor self = make_tensor(DType::kFloat32, {2, 5}, counting({2, 5}));
  HostTensor output = make_output(DType::kFloat32, {2, 2});
  const auto before = values_of(output);
  for (const std::int64_t bad : {5, -6}) {
    HostTensor indices = make_int64({2}, {0, bad});
    OperatorCall call("aten::index.Tensor_out");
    call.tensor(self).optional_tensors({nullptr, &indices}).tensor(output);
    CHECK(error_of(call) ==
          "aten::index.Tensor_out: index " + std::to_string(bad) + " is out of range for dimension 1 of size 5");
  }
  CHECK(values_of(output) == before);
}

TEST_CASE("index refuses indices of other kinds, shapes and numbers") {
  HostTensor self = make_tensor(DType::kFloat32, {2, 5}, counting({2, 5}));
  HostTensor output = make_output(DType::kFloat32, {2, 2});
  HostTensor floats = make_tensor(DType::kFloat32, {1}, {0});
  HostTensor two = make_int64({2}, {0, 0});
  HostTensor three = make_int64({3}, {0, 0, 0});
  HostTensor mask = make_tensor(DType::kBool, {3}, {1, 1, 1});
  const auto message = [&](const std::vector<HostTensor*>& indices) {
    OperatorCall call("aten::index.Tensor_out");
    call.tensor(self).optional_tensors(indices).tensor(output);
    return error_of(call);
  };
  CHECK_THAT(message({&floats}), ContainsSubstring("not float32"));
  CHECK_THAT(message({&two, &three}), ContainsSubstring("[2] and [3] do not broadcast"));
  CHECK_THAT(message({&mask}), ContainsSubstring("the mask bool[3] does not fit dimension 0"));
  CHECK_THAT(message({&two, &two, &two}), ContainsSubstring("more indices than dimensions"));
}

TEST_CASE("an empty result does not look at indices") {
  HostTensor self = make_tensor(DType::kFloat32, {0, 3}, {});
  HostTensor indices = make_int64({1}, {5});
  HostTensor output = make_output(DType::kFloat32, {0, 1});
  REQUIRE_RESULT(
      OperatorCall("aten::index.Tensor_out").tensor(self).optional_tensors({nullptr, &indices}).tensor(output).run());
}

TEST_CASE("index_put writes values, broadcast, in every layout") {
  const Shape shape = {3, 4};
  for (const DimOrder& order : some_orders(2)) {
    HostTensor self = make_tensor(DType::kFloat32, shape, order, counting(shape));
    HostTensor rows = make_int64({2}, {-1, 0});
    HostTensor values = make_tensor(DType::kFloat32, {2, 1}, {50, 60});
    HostTensor output = make_output(DType::kFloat32, shape, order);
    REQUIRE_RESULT(OperatorCall("aten::index_put.out")
                       .tensor(self)
                       .optional_tensors({&rows})
                       .tensor(values)
                       .boolean(false)
                       .tensor(output)
                       .run());
    CHECK(values_of(output) == std::vector<double>{60, 60, 60, 60, 4, 5, 6, 7, 50, 50, 50, 50});
    HostTensor mask = make_tensor(DType::kBool, shape, {0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
    HostTensor number = make_tensor(DType::kFloat32, {}, {99});
    REQUIRE_RESULT(
        OperatorCall("aten::index_put_").tensor(self).optional_tensors({&mask}).tensor(number).boolean(false).run());
    CHECK(values_of(self) == std::vector<double>{0, 99, 2, 3, 4, 5, 6, 7, 8, 9, 10, 99});
  }
}

TEST_CASE("index_put accumulates repeated indices in the dtype") {
  HostTensor rows = make_int64({3}, {1, 1, 0});
  for (const DType dtype : {DType::kFloat32, DType::kInt8, DType::kFloat16, DType::kFloat64}) {
    HostTensor self = make_tensor(dtype, {2, 2}, {1, 2, 3, 4});
    HostTensor values = make_tensor(dtype, {3, 2}, {10, 20, 30, 40, 5, 6});
    REQUIRE_RESULT(
        OperatorCall("aten::index_put_").tensor(self).optional_tensors({&rows}).tensor(values).boolean(true).run());
    CHECK(values_of(self) == std::vector<double>{6, 8, 43, 64});
  }
  HostTensor flags = make_tensor(DType::kBool, {2}, {1, 0});
  HostTensor set = make_tensor(DType::kBool, {3}, {1, 0, 1});
  REQUIRE_RESULT(
      OperatorCall("aten::index_put_").tensor(flags).optional_tensors({&rows}).tensor(set).boolean(true).run());
  CHECK(values_of(flags) == std::vector<double>{1, 1});
}

TEST_CASE("index_put refuses values that do not broadcast or have another dtype") {
  HostTensor self = make_tensor(DType::kFloat32, {2, 2}, {1, 2, 3, 4});
  HostTensor rows = make_int64({1}, {0});
  HostTensor three = make_tensor(DType::kFloat32, {3}, {1, 2, 3});
  HostTensor longs = make_int64({2}, {1, 2});
  OperatorCall shape("aten::index_put_");
  shape.tensor(self).optional_tensors({&rows}).tensor(three).boolean(false);
  CHECK_THAT(error_of(shape), ContainsSubstring("do not broadcast to the indexed shape [1, 2]"));
  OperatorCall dtype("aten::index_put_");
  dtype.tensor(self).optional_tensors({&rows}).tensor(longs).boolean(false);
  CHECK_THAT(error_of(dtype), ContainsSubstring("int64 and float32"));
}
