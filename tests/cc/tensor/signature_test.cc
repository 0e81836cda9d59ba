// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/tensor/signature.h"

#include "gtest/gtest.h"

namespace reverb {
namespace {

TensorSpec Spec(Dims dims) {
  TensorSpec spec;
  spec.name = "obs/camera";
  spec.dtype = DType::kUint8;
  spec.dims = dims;
  return spec;
}

TEST(TensorSpec, FitsItsOwnShapeAndAnySizeWhereItSaysSo) {
  EXPECT_TRUE(Spec({}).Fits({}));
  EXPECT_FALSE(Spec({}).Fits({1}));
  EXPECT_TRUE(Spec({3, -1}).Fits({3, 7}));
  EXPECT_TRUE(Spec({3, -1}).Fits({3, 0}));
  EXPECT_FALSE(Spec({3, -1}).Fits({4, 7}));
  EXPECT_FALSE(Spec({3, -1}).Fits({3}));
  EXPECT_FALSE(Spec({3, -1}).Fits({3, 7, 1}));
}

TEST(TensorSpec, UnknownRankFitsAll) {
  TensorSpec spec = Spec({});
  spec.unknown_rank = true;
  EXPECT_TRUE(spec.Fits({}));
  EXPECT_TRUE(spec.Fits({1, 2, 3}));
  EXPECT_TRUE(spec.FitsRows(5, {1}));
}

TEST(TensorSpec, FitsRowsPutsTheRowsInFront) {
  EXPECT_TRUE(Spec({5, 3}).FitsRows(5, {3}));
  EXPECT_TRUE(Spec({-1, 3}).FitsRows(9, {3}));
  EXPECT_TRUE(Spec({5}).FitsRows(5, {}));
  EXPECT_FALSE(Spec({5, 3}).FitsRows(4, {3}));
  EXPECT_FALSE(Spec({5, 3}).FitsRows(5, {}));
  EXPECT_FALSE(Spec({}).FitsRows(1, {}));
}

TEST(TensorSpec, ReadsWell) {
  EXPECT_EQ(Spec({84, 84, -1}).ToString(), "obs/camera: uint8 (84, 84, ?)");
  EXPECT_EQ(Spec({-1}).ToString(), "obs/camera: uint8 (?,)");
  TensorSpec spec = Spec({});
  spec.name = "";
  EXPECT_EQ(spec.ToString(), "uint8 ()");
  spec.unknown_rank = true;
  EXPECT_EQ(spec.ToString(), "uint8 of any shape");
}

}  // namespace
}  // namespace reverb
