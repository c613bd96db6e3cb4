// SPDX-License-Identifier: Apache-2.0
#include "bench/json.h"

#include <cstdio>
#include <fstream>
#include <optional>

namespace detops::bench {
namespace {

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return quoted + "\"";
}

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", value);
  return text;
}
std::string Number(const std::optional<double>& value) { return value ? Number(*value) : "null"; }

// {"a": 1, "b": "x"}
class Object {
 public:
  Object& Add(const char* name, const std::string& json) {
    text_ += (text_.empty() ? "" : ", ") + Quoted(name) + ": " + json;
    return *this;
  }
  std::string str() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

std::string Of(const Rates& r) {
  return Object()
      .Add("threads", std::to_string(r.threads))
      .Add("fill_gbps", Number(r.fill * 1e-9))
      .Add("copy_gbps", Number(r.copy * 1e-9))
      .Add("fused_gflops", Number(r.fused * 1e-9))
      .Add("separate_gflops", Number(r.separate * 1e-9))
      .str();
}

std::string Of(const Measurement& m, const Figures& f) {
  const Case& what = *m.what;
  return Object()
      .Add("op", Quoted(what.op))
      .Add("case", Quoted(what.name))
      .Add("dims", Quoted(what.dims))
      .Add("size", std::to_string(what.size))
      .Add("impl", Quoted(m.implementation))
      .Add("threads", std::to_string(m.threads))
      .Add("median_s", Number(m.median))
      .Add("min_s", Number(m.min))
      .Add("spread", Number(m.spread))
      .Add("bytes", Number(what.report.bytes))
      .Add("ops", Number(f.operations))
      .Add("pairs", m.pairs < 0 ? "null" : std::to_string(m.pairs))
      .Add("gbps", Number(f.gbps))
      .Add("gflops", Number(f.gflops))
      .Add("limit_s", Number(f.limit))
      .Add("share_of_limit", Number(f.share))
      .Add("ratio_to_reference", Number(f.ratio))
      .Add("ratio_to_one_thread", Number(f.scaling))
      .Add("ratio_to_one_thread_where_memory_scales", Number(f.scaling_with_memory))
      .Add("memory_ratio_to_one_thread", Number(f.memory_scaling))
      .Add("memory_gbps", Number(f.memory_gbps))
      .Add("in_cache", m.in_cache ? "true" : "false")
      .Add("verified_against", m.verified_against.empty() ? "null" : Quoted(m.verified_against))
      .str();
}

// One element a line, so that differences between two files can be read.
void WriteArray(std::ofstream& out, const char* name, const std::vector<std::string>& elements) {
  out << "  " << Quoted(name) << ": [";
  for (size_t i = 0; i < elements.size(); ++i)
    out << (i == 0 ? "\n    " : ",\n    ") << elements[i];
  out << "\n  ]";
}

}  // namespace

bool WriteJson(const std::string& file, const std::deque<Measurement>& measurements,
               const std::vector<Rates>& rates, bool smoke) {
  std::vector<std::string> rate_objects, records;
  for (const Rates& r : rates) rate_objects.push_back(Of(r));
  for (const Measurement& m : measurements) {
    if (m.timed) records.push_back(Of(m, FiguresOf(m, measurements, rates)));
  }
  const std::string environment = Object()
                                      .Add("detops", Quoted(detopsGetVersion()))
                                      .Add("processor", Quoted(ProcessorName()))
                                      .Add("threads", std::to_string(DefaultThreads()))
                                      .Add("compiler", Quoted(CompilerName()))
                                      .Add("smoke", smoke ? "true" : "false")
                                      .str();
  std::ofstream out(file);
  out << "{\n  \"environment\": " << environment << ",\n";
  WriteArray(out, "rates", rate_objects);
  out << ",\n";
  WriteArray(out, "measurements", records);
  out << "\n}\n";
  out.flush();
  return out.good();
}

}  // namespace detops::bench
