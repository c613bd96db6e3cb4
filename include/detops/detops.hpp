// SPDX-License-Identifier: Apache-2.0
//
// The C++ API: contexts, tensor views and the operators as functions. A thin layer over the C
// API, in this header alone (C++17), so that no C++ ABI matters.
//
//   detops::Context context;  // the CPU
//   const float boxes[2][9] = {...};
//   detops::Tensor kept = detops::poly_nms(context, {&boxes[0][0], {2, 9}}, 0.1f);
//   for (int32_t index : kept.to_vector<int32_t>()) ...
//
// Every failure is a detops::Error with the library's status and a text that names the function,
// the argument, what it is and what was expected. A context is used by one thread at a time.
#ifndef DETOPS_DETOPS_HPP_
#define DETOPS_DETOPS_HPP_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "detops/detops.h"

namespace detops {

class Error : public std::runtime_error {
 public:
  Error(mluOpStatus_t status, const std::string &text)
      : std::runtime_error(text), status_(status) {}
  mluOpStatus_t status() const { return status_; }

 private:
  mluOpStatus_t status_;
};

// IEEE binary16, as bits.
struct half {
  uint16_t bits;
};

enum class DType {
  kHalf = MLUOP_DTYPE_HALF,
  kFloat = MLUOP_DTYPE_FLOAT,
  kInt32 = MLUOP_DTYPE_INT32,
};

enum class Layout { kNCHW = MLUOP_LAYOUT_NCHW, kNHWC = MLUOP_LAYOUT_NHWC };

enum class Mode { kIoU = 0, kIoF = 1 };

using Shape = std::vector<int64_t>;

namespace detail {

// A C++ function, which its errors name.
struct Function {
  const char *name;

  [[noreturn]] void Fail(mluOpStatus_t status, const std::string &text) const {
    throw Error(status, std::string(name) + ": " + text);
  }
  // The library's text begins with the C function: "mluOpPolyNms: boxes: dim 1 is 8, expected 9".
  void Check(mluOpStatus_t status) const {
    if (status != MLUOP_STATUS_SUCCESS) Fail(status, AfterColon(detopsGetLastErrorMessage()));
  }
  // Of a C function that prepares an argument, and has another name for it.
  void CheckOf(const char *argument, mluOpStatus_t status) const {
    if (status == MLUOP_STATUS_SUCCESS) return;
    const std::string text = AfterColon(AfterColon(detopsGetLastErrorMessage()));
    Fail(status, std::string(argument) + ": " + text);
  }

  static std::string AfterColon(const std::string &text) {
    const size_t colon = text.find(": ");
    return colon == std::string::npos ? text : text.substr(colon + 2);
  }
};

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<half> {
  static constexpr DType value = DType::kHalf;
};
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::kFloat;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr DType value = DType::kInt32;
};

inline int64_t SizeOf(DType dtype) { return dtype == DType::kHalf ? 2 : 4; }

inline int64_t CountOf(const Shape &shape) {
  int64_t count = 1;
  for (int64_t dim : shape) count *= dim;
  return count;
}

// A descriptor for the time of a call.
class Descriptor {
 public:
  Descriptor(const Function &function, const char *argument, DType dtype, const Shape &shape,
             const Shape &strides, mluOpTensorLayout_t layout) {
    const auto refuse = [&](const std::string &what) {
      function.Fail(MLUOP_STATUS_BAD_PARAM, std::string(argument) + ": has " + what);
    };
    if (shape.empty()) refuse("0 dims");
    if (!strides.empty() && strides.size() != shape.size()) {
      refuse(std::to_string(strides.size()) + " strides for " + std::to_string(shape.size()) +
             " dims");
    }
    function.CheckOf(argument, mluOpCreateTensorDescriptor(&desc_));
    const int rank = static_cast<int>(shape.size());
    const auto type = static_cast<mluOpDataType_t>(dtype);
    const mluOpStatus_t status =
        strides.empty() ? mluOpSetTensorDescriptor_v2(desc_, layout, type, rank, shape.data())
                        : mluOpSetTensorDescriptorEx_v2(desc_, layout, type, rank, shape.data(),
                                                        strides.data());
    if (status != MLUOP_STATUS_SUCCESS) {
      mluOpDestroyTensorDescriptor(desc_);
      function.CheckOf(argument, status);
    }
  }
  ~Descriptor() { mluOpDestroyTensorDescriptor(desc_); }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  operator mluOpTensorDescriptor_t() const { return desc_; }

 private:
  mluOpTensorDescriptor_t desc_ = nullptr;
};

using SharedHandle = std::shared_ptr<mluOpContext>;

}  // namespace detail

// Memory of the caller's, described. Nothing is owned.
struct TensorView {
  const void *data = nullptr;
  DType dtype = DType::kFloat;
  Shape shape;
  Shape strides;               // in elements; empty means row-major
  std::string device = "cpu";  // where the data lies

  template <class T>
  TensorView(const T *values, Shape dims, Shape steps = {}, std::string where = "cpu")
      : data(values),
        dtype(detail::DTypeOf<T>::value),
        shape(std::move(dims)),
        strides(std::move(steps)),
        device(std::move(where)) {}

  int64_t dim(size_t i) const { return i < shape.size() ? shape[i] : 0; }
};

class Context;

// A result: owns memory of its context's device.
class Tensor {
 public:
  Tensor() = default;
  DType dtype() const { return dtype_; }
  const Shape &shape() const { return shape_; }
  int64_t size() const { return shape_.empty() ? 0 : detail::CountOf(shape_); }

  // A device pointer; on the CPU, simply a pointer.
  template <class T>
  T *data() const {
    RequireType(detail::DTypeOf<T>::value);
    return static_cast<T *>(memory_.get());
  }
  // A copy on the host, after waiting for what the context still computes.
  template <class T>
  std::vector<T> to_vector() const {
    RequireType(detail::DTypeOf<T>::value);
    std::vector<T> host(static_cast<size_t>(size()));
    if (!host.empty()) {
      detail::Function{"detops::Tensor::to_vector"}.Check(
          detopsCopyToHost(handle_.get(), host.data(), memory_.get(), host.size() * sizeof(T)));
    }
    return host;
  }

 private:
  friend class Context;
  Tensor(detail::SharedHandle handle, DType dtype, Shape shape)
      : handle_(std::move(handle)), dtype_(dtype), shape_(std::move(shape)) {
    void *memory = nullptr;
    const auto bytes = static_cast<size_t>(size() * detail::SizeOf(dtype_));
    detail::Function{"detops::Context::empty"}.Check(detopsAllocate(handle_.get(), bytes, &memory));
    const detail::SharedHandle owner = handle_;
    memory_ = std::shared_ptr<void>(memory, [owner](void *p) { detopsFree(owner.get(), p); });
  }
  void RequireType(DType wanted) const {
    if (dtype_ != wanted) {
      detail::Function{"detops::Tensor"}.Fail(MLUOP_STATUS_BAD_PARAM,
                                              "asked for elements of another type than it has");
    }
  }

  detail::SharedHandle handle_;
  std::shared_ptr<void> memory_;
  DType dtype_ = DType::kFloat;
  Shape shape_;
};

class Context {
 public:
  // "cpu", "cuda:0", "mlu590"; "" is what DETOPS_DEVICE names, else the CPU.
  explicit Context(const std::string &device = "") {
    mluOpHandle_t handle = nullptr;
    detail::Function{"detops::Context"}.Check(detopsCreate(&handle, device.c_str()));
    handle_ = detail::SharedHandle(handle, [](mluOpHandle_t h) { mluOpDestroy(h); });
  }

  mluOpHandle_t handle() const { return handle_.get(); }
  std::string device() const { return detopsGetDevice(handle()); }
  void set_queue(cnrtQueue_t queue) {
    detail::Function{"detops::Context::set_queue"}.Check(mluOpSetQueue(handle(), queue));
  }
  // "cpu:reference"; "" lets the library choose again.
  void set_implementation(const std::string &name) {
    detail::Function{"detops::Context::set_implementation"}.Check(
        detopsSetImplementation(handle(), name.c_str()));
  }
  // At most this many for CPU kernels; 0 is the default, as detopsSetThreads says.
  void set_threads(int count) {
    detail::Function{"detops::Context::set_threads"}.Check(detopsSetThreads(handle(), count));
  }
  int threads() const { return detopsGetThreads(handle()); }
  std::string last_implementation() const { return detopsGetLastImplementation(handle()); }

  // An uninitialised tensor on this context's device.
  Tensor empty(DType dtype, Shape shape) const { return Tensor(handle_, dtype, std::move(shape)); }
  // A copy of the host's values on this context's device.
  template <class T>
  Tensor from_host(const T *values, Shape shape) const {
    Tensor tensor = empty(detail::DTypeOf<T>::value, std::move(shape));
    const auto bytes = static_cast<size_t>(tensor.size()) * sizeof(T);
    if (bytes > 0) {
      detail::Function{"detops::Context::from_host"}.Check(
          detopsCopyToDevice(handle(), tensor.data<T>(), values, bytes));
    }
    return tensor;
  }
  // A tensor of this context as an argument.
  template <class T>
  TensorView view(const Tensor &tensor) const {
    return {tensor.data<T>(), tensor.shape(), {}, device()};
  }
  // The first elements of a tensor as one of a smaller shape; shares its memory.
  static Tensor front(const Tensor &tensor, Shape shape) {
    Tensor result = tensor;
    result.shape_ = std::move(shape);
    return result;
  }

  // Scratch memory, kept for the next call.
  void *workspace(size_t bytes) {
    if (workspace_bytes_ < bytes || workspace_.size() == 0) {
      workspace_ = empty(DType::kFloat, {static_cast<int64_t>((bytes + 3) / 4)});
      workspace_bytes_ = bytes;
    }
    return workspace_.data<float>();
  }

 private:
  detail::SharedHandle handle_;
  Tensor workspace_;
  size_t workspace_bytes_ = 0;
};

namespace detail {

// A function of a context.
struct Call : Function {
  Context &context;
};

// An argument as the C API wants it: contiguous, copied where it is not.
class Input {
 public:
  Input(const Call &call, const char *name, const TensorView &view,
        mluOpTensorLayout_t layout = MLUOP_LAYOUT_ARRAY)
      : desc_(call, name, view.dtype, view.shape, {}, layout), data_(view.data) {
    Context &context = call.context;
    if (view.device != context.device()) {
      call.Fail(MLUOP_STATUS_BAD_PARAM, std::string(name) + ": lies on " + view.device +
                                            ", but the context runs on " + context.device());
    }
    if (view.strides.empty() || CountOf(view.shape) == 0) return;
    const Descriptor strided(call, name, view.dtype, view.shape, view.strides, layout);
    copy_ = context.empty(view.dtype, view.shape);
    void *dense = Memory(copy_);
    call.CheckOf(name, detopsMakeContiguous(context.handle(), strided, view.data, dense));
    data_ = dense;
  }
  mluOpTensorDescriptor_t desc() const { return desc_; }
  const void *data() const { return data_; }

  static void *Memory(const Tensor &tensor) {
    switch (tensor.dtype()) {
      case DType::kHalf:
        return tensor.data<half>();
      case DType::kFloat:
        return tensor.data<float>();
      case DType::kInt32:
        return tensor.data<int32_t>();
    }
    return nullptr;
  }

 private:
  Descriptor desc_;
  const void *data_;
  Tensor copy_;
};

class Output {
 public:
  Output(const Call &call, DType dtype, const Shape &shape,
         mluOpTensorLayout_t layout = MLUOP_LAYOUT_ARRAY)
      : desc_(call, "the result", dtype, shape, {}, layout),
        tensor_(call.context.empty(dtype, shape)) {}
  mluOpTensorDescriptor_t desc() const { return desc_; }
  void *data() const { return Input::Memory(tensor_); }
  const Tensor &tensor() const { return tensor_; }

 private:
  Descriptor desc_;
  Tensor tensor_;
};

}  // namespace detail

// ---- the operators ------------------------------------------------------------------------------

// IoU or IoF of boxes x1,y1,x2,y2: [M,4] and [N,4] to [M,N]; aligned: [M].
inline Tensor bbox_overlaps(Context &context, const TensorView &bbox1, const TensorView &bbox2,
                            Mode mode = Mode::kIoU, bool aligned = false, int offset = 0) {
  const detail::Call call{{"detops::bbox_overlaps"}, context};
  const detail::Input in1(call, "bbox1", bbox1), in2(call, "bbox2", bbox2);
  const Shape shape = aligned ? Shape{bbox1.dim(0)} : Shape{bbox1.dim(0), bbox2.dim(0)};
  const detail::Output ious(call, bbox1.dtype, shape);
  call.Check(mluOpBboxOverlaps(context.handle(), static_cast<int>(mode), aligned, offset,
                               in1.desc(), in1.data(), in2.desc(), in2.data(), ious.desc(),
                               ious.data()));
  return ious.tensor();
}

// Indices of the quadrilaterals kept, ascending: [N,9] (x1,y1,...,x4,y4,score) to int32 [kept].
inline Tensor poly_nms(Context &context, const TensorView &boxes, float iou_threshold) {
  const detail::Call call{{"detops::poly_nms"}, context};
  const detail::Input in(call, "boxes", boxes);
  const detail::Output output(call, DType::kInt32, {boxes.dim(0)});
  const Tensor kept = context.empty(DType::kInt32, {1});
  size_t workspace_size = 0;
  call.Check(mluOpGetPolyNmsWorkspaceSize(context.handle(), in.desc(), &workspace_size));
  call.Check(mluOpPolyNms(context.handle(), in.desc(), in.data(), iou_threshold,
                          context.workspace(workspace_size), workspace_size, output.desc(),
                          output.data(), kept.data<int32_t>()));
  return Context::front(output.tensor(), {kept.to_vector<int32_t>()[0]});
}

// Indices of the upright boxes kept, best first: boxes [N,4] (x1,y1,x2,y2) and scores [N] of the
// same type to int32 [kept].
inline Tensor nms(Context &context, const TensorView &boxes, const TensorView &scores,
                  float iou_threshold) {
  const detail::Call call{{"detops::nms"}, context};
  const detail::Input in(call, "boxes", boxes), in_scores(call, "scores", scores);
  const detail::Output output(call, DType::kInt32, {boxes.dim(0)});
  const Tensor kept = context.empty(DType::kInt32, {1});
  size_t workspace_size = 0;
  call.Check(detopsGetNmsWorkspaceSize(context.handle(), in.desc(), &workspace_size));
  call.Check(detopsNms(context.handle(), in.desc(), in.data(), in_scores.desc(), in_scores.data(),
                       iou_threshold, context.workspace(workspace_size), workspace_size,
                       output.desc(), output.data(), kept.data<int32_t>()));
  return Context::front(output.tensor(), {kept.to_vector<int32_t>()[0]});
}

struct BorderAlignResult {
  Tensor output;
  Tensor argmax_idx;  // int32
};

// The maximum along each border of each box. NCHW: [N,4C,H,W] and [N,K,4] to [N,C,K,4];
// NHWC: [N,H,W,4C] and [N,K,4] to [N,K,4,C].
inline BorderAlignResult border_align(Context &context, const TensorView &input,
                                      const TensorView &boxes, int32_t pool_size,
                                      Layout layout = Layout::kNCHW) {
  const detail::Call call{{"detops::border_align"}, context};
  const auto c_layout = static_cast<mluOpTensorLayout_t>(layout);
  const detail::Input in(call, "input", input, c_layout), in_boxes(call, "boxes", boxes);
  const bool nchw = layout == Layout::kNCHW;
  const int64_t channels = input.dim(nchw ? 1 : 3) / 4;
  const Shape shape = nchw ? Shape{input.dim(0), channels, boxes.dim(1), 4}
                           : Shape{input.dim(0), boxes.dim(1), 4, channels};
  const detail::Output output(call, input.dtype, shape, c_layout);
  const detail::Output argmax(call, DType::kInt32, shape, c_layout);
  call.Check(detopsBorderAlignForward(context.handle(), in.desc(), in.data(), in_boxes.desc(),
                                      in_boxes.data(), pool_size, output.desc(), output.data(),
                                      argmax.desc(), argmax.data()));
  return {output.tensor(), argmax.tensor()};
}

struct Proposals {
  Tensor rois;      // [R,4] x1,y1,x2,y2, packed over the images
  Tensor probs;     // [R,1]
  Tensor rois_num;  // int32 [N], sums to R
};

// Region proposals: scores [N,H,W,A], bbox_deltas [N,H,W,4A], im_shape [N,2] (height, width),
// anchors and variances [H,W,A,4].
inline Proposals generate_proposals(Context &context, const TensorView &scores,
                                    const TensorView &bbox_deltas, const TensorView &im_shape,
                                    const TensorView &anchors, const TensorView &variances,
                                    int pre_nms_top_n = 6000, int post_nms_top_n = 1000,
                                    float nms_thresh = 0.5f, float min_size = 0.1f,
                                    float eta = 1.0f, bool pixel_offset = false) {
  const detail::Call call{{"detops::generate_proposals"}, context};
  const detail::Input in_scores(call, "scores", scores);
  const detail::Input in_deltas(call, "bbox_deltas", bbox_deltas);
  const detail::Input in_size(call, "im_shape", im_shape);
  const detail::Input in_anchors(call, "anchors", anchors);
  const detail::Input in_variances(call, "variances", variances);
  size_t workspace_size = 0;
  call.Check(mluOpGetGenerateProposalsV2WorkspaceSize_v2(context.handle(), in_scores.desc(),
                                                         pre_nms_top_n, &workspace_size));
  // An image has no more proposals than anchors, whatever the caller allows.
  const int64_t per_image = scores.dim(1) * scores.dim(2) * scores.dim(3);
  const int most =
      static_cast<int>(std::min<int64_t>(post_nms_top_n, std::max<int64_t>(per_image, 1)));
  const int64_t rows = scores.dim(0) * std::max(most, 0);
  const detail::Output rois(call, DType::kFloat, {rows, 4});
  const detail::Output probs(call, DType::kFloat, {rows, 1});
  const detail::Output rois_num(call, DType::kInt32, {scores.dim(0)});
  const Tensor total = context.empty(DType::kInt32, {1});
  call.Check(mluOpGenerateProposalsV2(
      context.handle(), pre_nms_top_n, most, nms_thresh, min_size, eta, pixel_offset,
      in_scores.desc(), in_scores.data(), in_deltas.desc(), in_deltas.data(), in_size.desc(),
      in_size.data(), in_anchors.desc(), in_anchors.data(), in_variances.desc(),
      in_variances.data(), context.workspace(workspace_size), workspace_size, rois.desc(),
      rois.data(), probs.desc(), probs.data(), rois_num.desc(), rois_num.data(),
      total.data<int32_t>()));
  const int64_t count = total.to_vector<int32_t>()[0];
  return {Context::front(rois.tensor(), {count, 4}), Context::front(probs.tensor(), {count, 1}),
          rois_num.tensor()};
}

// The first box that holds each point, or -1: points [B,M,3] and boxes [B,T,7] to int32 [B,M].
inline Tensor points_in_boxes(Context &context, const TensorView &points, const TensorView &boxes) {
  const detail::Call call{{"detops::points_in_boxes"}, context};
  const detail::Input in_points(call, "points", points), in_boxes(call, "boxes", boxes);
  const detail::Output indices(call, DType::kInt32, {points.dim(0), points.dim(1)});
  call.Check(mluOpPointsInBoxes(context.handle(), in_points.desc(), in_points.data(),
                                in_boxes.desc(), in_boxes.data(), indices.desc(), indices.data()));
  return indices.tensor();
}

}  // namespace detops

#endif  // DETOPS_DETOPS_HPP_
