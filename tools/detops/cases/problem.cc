// SPDX-License-Identifier: Apache-2.0
#include "cases/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cmath>

namespace detops::cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr const char* kLayout = "layout";  // a scalar that case files have with the first input

// The message with the scalars, as "poly_nms_param"; null where mluOp has none for the operator.
const FieldDescriptor* ParamOf(const Schema& schema) {
  const std::string name =
      schema.case_param != nullptr ? schema.case_param : std::string(schema.name) + "_param";
  return proto::Case::descriptor()->FindFieldByName(name);
}

double Get(const Message& message, const FieldDescriptor* field) {
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32: return message.GetReflection()->GetInt32(message, field);
    case FieldDescriptor::CPPTYPE_BOOL: return message.GetReflection()->GetBool(message, field);
    default: return message.GetReflection()->GetFloat(message, field);
  }
}

void Set(Message& message, const FieldDescriptor* field, double value) {
  const auto* reflection = message.GetReflection();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection->SetInt32(&message, field, static_cast<int32_t>(value));
    case FieldDescriptor::CPPTYPE_BOOL: return reflection->SetBool(&message, field, value != 0);
    default: return reflection->SetFloat(&message, field, static_cast<float>(value));
  }
}

std::vector<schema::Tensor> TensorsOf(const schema::Problem& problem, bool inputs) {
  std::vector<schema::Tensor> tensors;
  for (const schema::Tensor& tensor : problem.form().tensors) {
    if ((tensor.role == schema::Role::kInput) == inputs) tensors.push_back(tensor);
  }
  return tensors;
}

// The file gives all scalars as double; the C functions take int and bool too.
void RequireKind(const Schema& schema, const proto::Scalar& given) {
  const schema::Scalar::Kind kind = schema.scalars[ScalarNamed(schema, given.name())].kind;
  const double value = given.value();
  if (kind == schema::Scalar::Kind::kInt &&
      !(std::trunc(value) == value && value >= INT_MIN && value <= INT_MAX)) {
    throw UserError(fmt::format("{}: scalar '{}' is {}, expected a whole number of 32 bits",
                                schema.name, given.name(), value));
  }
  if (kind == schema::Scalar::Kind::kBool && value != 0 && value != 1) {
    throw UserError(
        fmt::format("{}: scalar '{}' is {}, expected 0 or 1", schema.name, given.name(), value));
  }
}

std::string OptionNamed(std::string name) {
  std::ranges::replace(name, '_', '-');
  return "--" + name;
}

}  // namespace

std::vector<schema::Tensor> InputsOf(const schema::Problem& problem) {
  return TensorsOf(problem, true);
}
std::vector<schema::Tensor> OutputsOf(const schema::Problem& problem) {
  return TensorsOf(problem, false);
}

size_t PositionOf(const Schema& schema, size_t input_of_case) {
  if (schema.case_order.empty()) return input_of_case;
  const std::vector<schema::Tensor>& tensors = schema.forms.front().tensors;
  const std::string_view name = schema.case_order[input_of_case];
  return static_cast<size_t>(
      std::ranges::find_if(tensors, [&](const schema::Tensor& t) { return t.name == name; }) -
      tensors.begin());
}

size_t PositionOf(const schema::Problem& problem, const proto::Case& spec, size_t input_of_case) {
  const std::vector<schema::Tensor> inputs = InputsOf(problem);
  std::vector<size_t> positions;
  for (const proto::Tensor& tensor : spec.input()) {
    const auto found =
        std::ranges::find_if(inputs, [&](const auto& input) { return input.name == tensor.id(); });
    const auto at = static_cast<size_t>(found - inputs.begin());
    const bool known = found != inputs.end() && std::ranges::find(positions, at) == positions.end();
    if (!known) return PositionOf(*problem.schema, input_of_case);
    positions.push_back(at);
  }
  return positions[input_of_case];
}

std::string OptionOf(const schema::Tensor& tensor) {
  if (tensor.option != nullptr) return tensor.option;
  return tensor.role == schema::Role::kInput ? OptionNamed(tensor.name) : "";
}

void AddScalarOptions(Command& command, schema::Problem& problem) {
  const std::vector<schema::Scalar>& scalars = problem.schema->scalars;
  for (size_t i = 0; i < scalars.size(); ++i) {
    const schema::Scalar& scalar = scalars[i];
    const std::string option = OptionNamed(scalar.name);
    double& value = problem.scalars[i];
    const auto set = [&value](auto given) { value = static_cast<double>(given); };
    const std::string standard = fmt::format("{:g}", scalar.standard);
    if (!scalar.choices.empty()) {
      const std::vector<std::string> names(scalar.choices.begin(), scalar.choices.end());
      command
          .AddSetter<std::string>(
              option,
              [&value, names](const std::string& name) {
                value = static_cast<double>(std::ranges::find(names, name) - names.begin());
              },
              scalar.help)
          .OneOf(names)
          .ShowDefault(names[static_cast<size_t>(scalar.standard)]);
    } else if (scalar.kind == schema::Scalar::Kind::kBool && scalar.standard == 0) {
      command.AddFlagSetter(
          option, [&value] { value = 1; }, scalar.help);
    } else if (scalar.kind == schema::Scalar::Kind::kBool) {
      command.AddSetter<bool>(option, set, scalar.help).ShowDefault("true");
    } else if (scalar.kind == schema::Scalar::Kind::kInt) {
      command.AddSetter<int>(option, set, scalar.help).ShowDefault(standard);
    } else {
      command.AddSetter<float>(option, set, scalar.help).ShowDefault(standard);
    }
  }
}

void ReadScalars(const proto::Case& spec, schema::Problem& problem) {
  const FieldDescriptor* param = ParamOf(*problem.schema);
  for (const schema::Scalar& scalar : problem.schema->scalars) {
    if (scalar.name == std::string_view(kLayout)) {
      problem.set_scalar(kLayout,
                         spec.input_size() > 0 && spec.input(0).layout() == proto::LAYOUT_NCHW);
    } else if (param != nullptr) {
      const Message& message = spec.GetReflection()->GetMessage(spec, param);
      problem.set_scalar(scalar.name,
                         Get(message, param->message_type()->FindFieldByName(scalar.name)));
    }
  }
  for (const proto::Scalar& given : spec.scalar()) {
    const auto& scalars = problem.schema->scalars;
    if (std::ranges::none_of(scalars, [&](const auto& s) { return s.name == given.name(); })) {
      throw UserError(fmt::format("{} has no scalar '{}'", problem.schema->name, given.name()));
    }
    RequireKind(*problem.schema, given);
    problem.set_scalar(given.name(), given.value());
  }
  // A form that the operator does not have is the library's to refuse; it can't be asked for one.
  if (problem.schema->form_scalar == nullptr) return;
  const double form = problem.scalar(problem.schema->form_scalar);
  if (!(form >= 0 && form < static_cast<double>(problem.schema->forms.size()))) {
    throw UserError(fmt::format("{}: {} is {}, expected 0 to {}", problem.schema->name,
                                problem.schema->form_scalar, form,
                                problem.schema->forms.size() - 1));
  }
}

void WriteScalars(const schema::Problem& problem, proto::Case& spec) {
  const FieldDescriptor* param = ParamOf(*problem.schema);
  for (const schema::Scalar& scalar : problem.schema->scalars) {
    const double value = problem.scalar(scalar.name);
    if (value == scalar.standard) continue;
    if (scalar.name == std::string_view(kLayout)) {
      if (spec.input_size() == 0) spec.add_input();
      spec.mutable_input(0)->set_layout(proto::LAYOUT_NCHW);
    } else if (param != nullptr) {
      Message& message = *spec.GetReflection()->MutableMessage(&spec, param);
      Set(message, param->message_type()->FindFieldByName(scalar.name), value);
    } else {
      proto::Scalar* written = spec.add_scalar();
      written->set_name(scalar.name);
      written->set_value(value);
    }
  }
}

}  // namespace detops::cli
