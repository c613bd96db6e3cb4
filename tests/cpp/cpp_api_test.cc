// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "detops/detops.hpp"
#include "oracle/oracle.h"
#include "support/handle.h"
#include "support/operators.h"
#include "support/random_data.h"

namespace detops {
namespace {

using test::kNan;
using test::Rng;
using test::UniformFloats;

TEST(CppApi, BboxOverlaps) {
  Context context("cpu");
  const std::vector<float> a = {0, 0, 10, 10, 10, 10, 20, 20}, b = {0, 0, 10, 20, 10, 10, 20, 20};
  const Tensor pairs = bbox_overlaps(context, {a.data(), {2, 4}}, {b.data(), {2, 4}});
  EXPECT_EQ(pairs.shape(), (Shape{2, 2}));
  EXPECT_EQ(pairs.to_vector<float>(), (std::vector<float>{0.5f, 0, 0, 1}));
  const Tensor aligned =
      bbox_overlaps(context, {a.data(), {2, 4}}, {b.data(), {2, 4}}, Mode::kIoF, true, 1);
  EXPECT_EQ(aligned.shape(), Shape{2});
  EXPECT_EQ(aligned.to_vector<float>(), (std::vector<float>{1, 1}));
  EXPECT_EQ(context.last_implementation().rfind("cpu:", 0), 0u);
}

// On each of them that can be used here: "mlu590" is Context("mlu590").
TEST(CppApi, EveryDevice) {
  Rng rng(60);
  const std::vector<float> a = UniformFloats(rng, 40 * 4, 0, 9),
                           b = UniformFloats(rng, 30 * 4, 0, 9);
  Context cpu("cpu");
  const std::vector<float> expected =
      bbox_overlaps(cpu, {a.data(), {40, 4}}, {b.data(), {30, 4}}).to_vector<float>();
  for (const std::string& device : test::UsableDevices()) {
    Context context(device);
    EXPECT_EQ(context.device(), device);
    const Tensor boxes1 = context.from_host(a.data(), {40, 4});
    const Tensor boxes2 = context.from_host(b.data(), {30, 4});
    const TensorView view1 = context.view<float>(boxes1), view2 = context.view<float>(boxes2);
    const Tensor ious = bbox_overlaps(context, view1, view2);
    test::ExpectSameFloats(ious.to_vector<float>(), expected, device);
    EXPECT_EQ(test::DeviceOf(context.last_implementation()), test::DeviceOf(device));
    // Columns of a wider tensor are made dense there.
    const Tensor wide = context.from_host(a.data(), {20, 8});
    const TensorView left(wide.data<float>(), {20, 4}, {8, 1}, device);
    EXPECT_EQ(bbox_overlaps(context, left, view2).shape(), (Shape{20, 30}));
    EXPECT_EQ(context.from_host(a.data(), {0, 4}).size(), 0);
    if (device == "cpu") continue;
    try {
      bbox_overlaps(context, {a.data(), {40, 4}}, view2);
      FAIL() << "host memory was taken for a device's";
    } catch (const Error& e) {
      EXPECT_STREQ(
          e.what(),
          ("detops::bbox_overlaps: bbox1: lies on cpu, but the context runs on " + device).c_str());
    }
  }
}

TEST(CppApi, HalfBoxes) {
  Context context;
  const std::vector<half> a = {{0}, {0}, {0x3c00}, {0x3c00}}, b = {{0}, {0}, {0x4000}, {0x3c00}};
  const Tensor iou = bbox_overlaps(context, {a.data(), {1, 4}}, {b.data(), {1, 4}});
  EXPECT_EQ(iou.to_vector<half>()[0].bits, 0x3800);
  EXPECT_THROW(iou.to_vector<float>(), Error);
}

TEST(CppApi, PolyNmsComesBackSized) {
  Context context;
  Rng rng(61);
  const std::vector<float> boxes = test::RandomQuads(rng, 100, 0.0f, true);
  const Tensor kept = poly_nms(context, {boxes.data(), {100, 9}}, 0.1f);
  EXPECT_EQ(kept.to_vector<int32_t>(), oracle::PolyNms(boxes, 0.1f));
  const Tensor none = poly_nms(context, {boxes.data(), {0, 9}}, 0.1f);
  EXPECT_EQ(none.shape(), Shape{0});
  EXPECT_TRUE(none.to_vector<int32_t>().empty());
}

TEST(CppApi, BorderAlignInBothLayouts) {
  Context context;
  Rng rng(62);
  const int64_t n = 2, h = 5, w = 6, c = 3, k = 7;
  const std::vector<float> nchw = UniformFloats(rng, n * h * w * 4 * c, -1, 1);
  const std::vector<float> boxes = UniformFloats(rng, n * k * 4, 0, 5);
  const BorderAlignResult first =
      border_align(context, {nchw.data(), {n, 4 * c, h, w}}, {boxes.data(), {n, k, 4}}, 4);
  EXPECT_EQ(first.output.shape(), (Shape{n, c, k, 4}));
  const auto expected = oracle::BorderAlign(nchw, boxes, n, h, w, c, k, 4, true);
  EXPECT_EQ(first.output.to_vector<float>(), expected.output);
  EXPECT_EQ(first.argmax_idx.to_vector<int32_t>(), expected.argmax);

  // The same memory seen as NHWC through strides: a view that is not contiguous.
  const TensorView as_nhwc(nchw.data(), {n, h, w, 4 * c}, {4 * c * h * w, w, 1, h * w});
  const BorderAlignResult second =
      border_align(context, as_nhwc, {boxes.data(), {n, k, 4}}, 4, Layout::kNHWC);
  EXPECT_EQ(second.output.shape(), (Shape{n, k, 4, c}));
  const std::vector<float> got = second.output.to_vector<float>();
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t box = 0; box < k; ++box) {
      for (int64_t border = 0; border < 4; ++border) {
        for (int64_t channel = 0; channel < c; ++channel) {
          EXPECT_EQ(
              got[static_cast<size_t>(((i * k + box) * 4 + border) * c + channel)],
              expected.output[static_cast<size_t>(((i * c + channel) * k + box) * 4 + border)]);
        }
      }
    }
  }
}

TEST(CppApi, NonContiguousViewsAreCopied) {
  Context context;
  Rng rng(63);
  // Columns 2 to 10 of a wider table, every second row.
  const int64_t rows = 60, wide = 13;
  const std::vector<float> table = UniformFloats(rng, rows * wide, 0, 30);
  std::vector<float> dense;
  for (int64_t i = 0; i < rows; i += 2) {
    const auto begin = table.begin() + static_cast<std::ptrdiff_t>(i * wide + 2);
    dense.insert(dense.end(), begin, begin + 9);
  }
  const TensorView strided(table.data() + 2, {rows / 2, 9}, {2 * wide, 1});
  EXPECT_EQ(poly_nms(context, strided, 0.2f).to_vector<int32_t>(),
            poly_nms(context, {dense.data(), {rows / 2, 9}}, 0.2f).to_vector<int32_t>());
  // Stride 0: one box against itself, four times.
  const TensorView repeated(table.data(), {4, 4}, {0, 1});
  EXPECT_EQ(bbox_overlaps(context, repeated, repeated).shape(), (Shape{4, 4}));
}

TEST(CppApi, GenerateProposalsComesBackSized) {
  Context context;
  const std::vector<float> scores = {0.9f, 0.8f, 0.1f, kNan}, deltas(16, 0.0f), size = {50, 50};
  const std::vector<float> anchors = {0, 0, 10, 10, 0, 0, 10, 9, 20, 20, 30, 30, 5, 5, 5.5f, 5.5f};
  const std::vector<float> variances(16, 1.0f);
  const Proposals p = generate_proposals(
      context, {scores.data(), {1, 1, 4, 1}}, {deltas.data(), {1, 1, 4, 4}}, {size.data(), {1, 2}},
      {anchors.data(), {1, 4, 1, 4}}, {variances.data(), {1, 4, 1, 4}});
  EXPECT_EQ(p.rois.shape(), (Shape{2, 4}));
  EXPECT_EQ(p.probs.shape(), (Shape{2, 1}));
  EXPECT_EQ(p.probs.to_vector<float>(), (std::vector<float>{0.9f, 0.1f}));
  EXPECT_EQ(p.rois.to_vector<float>(), (std::vector<float>{0, 0, 10, 10, 20, 20, 30, 30}));
  EXPECT_EQ(p.rois_num.to_vector<int32_t>(), std::vector<int32_t>{2});
}

TEST(CppApi, PointsInBoxes) {
  Context context;
  const std::vector<float> points = {0, 0, 0, 9, 9, 9}, boxes = {0, 0, 0, 1, 1, 1, 0};
  const Tensor indices =
      points_in_boxes(context, {points.data(), {1, 2, 3}}, {boxes.data(), {1, 1, 7}});
  EXPECT_EQ(indices.to_vector<int32_t>(), (std::vector<int32_t>{0, -1}));
}

TEST(CppApi, ResultsOutliveTheirContext) {
  Tensor kept;
  {
    Context context;
    const std::vector<float> box = {0, 0, 1, 0, 1, 1, 0, 1, 3};
    kept = poly_nms(context, {box.data(), {1, 9}}, 0.1f);
  }
  EXPECT_EQ(kept.to_vector<int32_t>(), std::vector<int32_t>{0});
}

template <class Call>
std::string ErrorOf(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(CppApi, ErrorsCarryStatusAndText) {
  Context context;
  const std::vector<float> boxes(16, 0.0f);
  try {
    poly_nms(context, {boxes.data(), {2, 8}}, 0.1f);
    FAIL() << "expected an Error";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), MLUOP_STATUS_BAD_PARAM);
    EXPECT_STREQ(error.what(), "detops::poly_nms: boxes: dim 1 is 8, expected 9");
  }
}

TEST(CppApi, ErrorsNameTheCppFunctionAndItsArgument) {
  Context context;
  const std::vector<float> values(100, 0.0f);
  const float* data = values.data();
  const TensorView box(data, {2, 4});
  const auto overlaps = [&](TensorView bbox1) {
    return ErrorOf([&] { bbox_overlaps(context, bbox1, box); });
  };
  EXPECT_EQ(overlaps({data, {2, 3}}), "detops::bbox_overlaps: bbox1: dim 1 is 3, expected 4");
  EXPECT_EQ(overlaps({data, {2, 4}, {}, "cuda:0"}),
            "detops::bbox_overlaps: bbox1: lies on cuda:0, but the context runs on cpu");
  EXPECT_EQ(overlaps({data, {2, 4}, {4}}),
            "detops::bbox_overlaps: bbox1: has 1 strides for 2 dims");
  EXPECT_EQ(overlaps({data, {-2, 4}}),
            "detops::bbox_overlaps: bbox1: dim 0 is -2, expected 0 or more");
  EXPECT_EQ(ErrorOf([&] {
              nms(context, box, {data, {3}}, 0.5f);
            }),
            "detops::nms: scores: dim 0 is 3, expected 2");
  EXPECT_EQ(ErrorOf([&] {
              border_align(context, {data, {1}}, {data, {1, 4, 4}}, 2);
            }),
            "detops::border_align: input: has 1 dims, expected 4");
  EXPECT_EQ(ErrorOf([&] {
              generate_proposals(context, {data, {1, 1, 4, 1}}, {data, {1, 1, 4, 4}},
                                 {data, {1, 3}}, {data, {1, 4, 1, 4}}, {data, {1, 4, 1, 4}});
            }),
            "detops::generate_proposals: im_shape: dim 1 is 3, expected 2");
  EXPECT_EQ(ErrorOf([&] {
              points_in_boxes(context, {data, {}}, {data, {1, 1, 7}});
            }),
            "detops::points_in_boxes: points: has 0 dims");
  EXPECT_EQ(
      ErrorOf([&] { Context("nowhere"); }),
      "detops::Context: device: there is no \"nowhere\"; expected cpu, cuda, cuda:N, mlu, mlu590, "
      "mlu370");
  context.set_implementation("cpu:nothing");
  EXPECT_EQ(overlaps(box).find("detops::bbox_overlaps: "), 0u);
  EXPECT_EQ(ErrorOf([&] { context.empty(DType::kHalf, {1}).data<float>(); }),
            "detops::Tensor: asked for elements of another type than it has");
}

TEST(CppApi, ImplementationCanBeForced) {
  Context context;
  context.set_implementation("cpu:reference");
  const std::vector<float> box = {0, 0, 1, 1};
  bbox_overlaps(context, {box.data(), {1, 4}}, {box.data(), {1, 4}});
  EXPECT_EQ(context.last_implementation(), "cpu:reference");
  context.set_implementation("cpu:nothing");
  EXPECT_THROW(bbox_overlaps(context, {box.data(), {1, 4}}, {box.data(), {1, 4}}), Error);
}

TEST(CppApi, ThreadsAreSetAlsoAfterCalls) {
  Context context;
  const int standard = context.threads();
  const std::vector<float> box = {0, 0, 1, 1};
  bbox_overlaps(context, {box.data(), {1, 4}}, {box.data(), {1, 4}});
  context.set_threads(3);
  EXPECT_EQ(context.threads(), 3);
  EXPECT_THROW(context.set_threads(-1), Error);
  EXPECT_EQ(context.threads(), 3);
  context.set_threads(0);
  EXPECT_EQ(context.threads(), standard);
}

}  // namespace
}  // namespace detops
