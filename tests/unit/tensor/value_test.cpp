// What a slot of the value table holds, and its name.
#include "tensor/value.h"

#include <catch2/catch_test_macros.hpp>

using namespace pterun;

TEST_CASE("a slot begins as None") {
  const Value value;
  CHECK(value.is_none());
  CHECK(value.tensor() == nullptr);
  CHECK(value.kind_name() == "None");
  CHECK_FALSE(value.is_scalar());
}

TEST_CASE("each kind answers to its own question only") {
  CHECK(Value(std::int64_t{3}).is_int());
  CHECK_FALSE(Value(std::int64_t{3}).is_bool());
  CHECK(Value(2.5).is_double());
  CHECK(Value(true).is_bool());
  CHECK_FALSE(Value(true).is_int());
  CHECK(Value(std::string("x")).is_string());
  CHECK_FALSE(Value(std::string("x")).is_scalar());
  for (const Value& scalar : {Value(std::int64_t{1}), Value(1.0), Value(false)})
    CHECK(scalar.is_scalar());
}

TEST_CASE("names are ExecuTorch's tags") {
  CHECK(Value(std::int64_t{3}).kind_name() == "Int");
  CHECK(Value(2.5).kind_name() == "Double");
  CHECK(Value(true).kind_name() == "Bool");
  CHECK(Value(std::string()).kind_name() == "String");
  Tensor tensor;
  CHECK(Value(&tensor).kind_name() == "Tensor");
}

TEST_CASE("two slots share a tensor") {
  Tensor tensor(DType::kFloat32, Shape{2}, nullptr);
  Value first(&tensor);
  Value second = first;
  CHECK(second.tensor() == first.tensor());
  first.set(std::int64_t{1});
  CHECK(first.is_int());
  CHECK(second.tensor() == &tensor);
}

TEST_CASE("a list refers to slots, so that it sees numbers computed later") {
  Value number(std::int64_t{2});
  const Value list(IntList{{&number}});
  number.set(std::int64_t{9});
  const IntList* items = list.get_if<IntList>();
  REQUIRE(items != nullptr);
  CHECK(*items->items.front()->get_if<std::int64_t>() == 9);
  CHECK(list.get_if<DoubleList>() == nullptr);
}
