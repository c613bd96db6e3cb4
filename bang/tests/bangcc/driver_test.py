#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bangcc as a command: its options, what it writes, what it says."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BANGCC = sys.argv.pop(1)

HELLO = """#include <cstdio>
__mlu_global__ void Kernel(int *out) { *out = __BANG_ARCH__ + VALUE; }
int main() {
  int host = 0, *device;
  CNRT_CHECK(cnrtMalloc((void **)&device, sizeof(host)));
  Kernel<<<{1, 1, 1}, cnrtFuncTypeBlock, nullptr>>>(device);
  CNRT_CHECK(cnrtMemcpy(&host, device, sizeof(host), cnrtMemcpyDevToHost));
  std::printf("%d\\n", host);
}
"""

# A kernel that each file has as its own.
STATIC = """static __nram__ int tile[4];
static __mlu_func__ int Value() { return NUMBER; }
static __mlu_global__ void Kernel(int *out) { tile[0] = Value(); out[NUMBER] = tile[0]; }
extern "C" void LaunchNUMBER(int *out) { Kernel<<<{1, 1, 1}, cnrtFuncTypeBlock, nullptr>>>(out); }
"""


class DriverTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def call(self, *command, status=0, env=None):
        done = subprocess.run([str(word) for word in command], cwd=self.folder, text=True,
                              capture_output=True, env={**os.environ, **(env or {})})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def bangcc(self, *words, status=0):
        return self.call(BANGCC, *words, status=status)

    def test_program_of_one_file(self):
        self.write("hello.mlu", HELLO)
        for arch, value in (("--bang-mlu-arch=mtp_372", 372), ("--bang-arch=compute_30", 372),
                            ("--bang-mlu-arch=mtp_592", 592), ("--bang-arch=compute_50", 592)):
            self.bangcc("hello.mlu", "-DVALUE=1000", arch, "-o", "hello")
            self.assertEqual(self.call("./hello").stdout, f"{value + 1000}\n")

    def test_libraries_of_the_vendor_are_here_already(self):
        self.write("a.mlu", HELLO)
        self.bangcc("a.mlu", "-DVALUE=1", "-o", "a", "-lcnrt", "-lcndrv", "-l", "cnbin", "-lm")
        self.assertEqual(self.call("./a").stdout, "593\n")

    def test_default_output_and_card(self):
        self.write("hello.mlu", HELLO)
        self.bangcc("-D", "VALUE=0", "hello.mlu")
        self.assertEqual(self.call("./a.out").stdout, "592\n")

    def test_several_cards(self):
        self.write("hello.mlu", HELLO)
        done = self.bangcc("--bang-mlu-arch=mtp_592", "--bang-mlu-arch=mtp_372", "-DVALUE=0", "hello.mlu")
        self.assertIn("warning: device code is for one card, here mtp_592", done.stderr)
        self.assertEqual(self.call("./a.out").stdout, "592\n")

    def test_unknown_card(self):
        done = self.bangcc("--bang-mlu-arch=mtp_290", "x.mlu", status=1)
        self.assertIn("there is no card of mtp_290; there are mtp_372", done.stderr)

    def test_objects_are_linked_later(self):
        self.write("hello.mlu", HELLO)
        self.write("sub/other.mlu", "void Nothing() {}\n")
        self.bangcc("-c", "hello.mlu", "sub/other.mlu", "-DVALUE=5", "-O3", "-g", "-fPIC", "-Wall")
        self.assertTrue((self.folder / "other.o").exists())
        self.bangcc("hello.o", "other.o", "-o", "hello")
        self.assertEqual(self.call("./hello").stdout, "597\n")

    def test_other_endings(self):
        self.write("hello.cpp", HELLO)
        self.bangcc("-x", "bang", "hello.cpp", "-DVALUE=1", "-o", "hello")
        self.assertEqual(self.call("./hello").stdout, "593\n")

    def test_shared_library(self):
        self.write("kernels.mlu", STATIC.replace("NUMBER", "3"))
        self.write("main.cc", '#include <dlfcn.h>\n#include <stdio.h>\n#include "cnrt.h"\nint main() {\n'
                   '  int *data, host[4] = {};\n  cnrtMalloc((void **)&data, sizeof(host));\n'
                   '  void *library = dlopen("./libkernels.so", RTLD_NOW);\n'
                   '  ((void (*)(int *))dlsym(library, "Launch3"))(data);\n'
                   "  cnrtMemcpy(host, data, sizeof(host), cnrtMemcpyDevToHost);\n"
                   '  printf("%d\\n", host[3]);\n}\n')
        self.bangcc("-shared", "-fPIC", "kernels.mlu", "-o", "libkernels.so")
        self.bangcc("main.cc", "-o", "main", "-ldl")
        self.assertEqual(self.call("./main").stdout, "3\n")

    def test_device_code_is_private_to_its_file(self):
        for number in "01":
            self.write(f"kernel{number}.mlu", STATIC.replace("NUMBER", number))
        self.write("main.cc", '#include <stdio.h>\n#include "cnrt.h"\n'
                   'extern "C" void Launch0(int *);\nextern "C" void Launch1(int *);\nint main() {\n'
                   "  int *data, host[2] = {7, 7};\n  cnrtMalloc((void **)&data, sizeof(host));\n"
                   "  Launch0(data), Launch1(data);\n"
                   "  cnrtMemcpy(host, data, sizeof(host), cnrtMemcpyDevToHost);\n"
                   '  printf("%d %d\\n", host[0], host[1]);\n}\n')
        self.bangcc("kernel0.mlu", "kernel1.mlu", "main.cc", "-o", "main")
        self.assertEqual(self.call("./main").stdout, "0 1\n")

    def test_older_standards(self):
        self.write("hello.mlu", HELLO)
        self.bangcc("-std=c++11", "hello.mlu", "-DVALUE=1")
        self.bangcc("-std=c++20", "hello.mlu", "-DVALUE=1")

    def test_preprocessing(self):
        self.write("hello.mlu", HELLO)
        text = self.bangcc("-E", "hello.mlu", "-DVALUE=77").stdout
        self.assertIn("*out = 592 + 77;", text)
        self.bangcc("-E", "hello.mlu", "-DVALUE=77", "-o", "hello.ii")
        self.assertEqual((self.folder / "hello.ii").read_text(), text)

    def test_dependencies(self):
        self.write("kernel.mlu", '#include "value.h"\n__mlu_global__ void Kernel(int *out) { *out = kValue; }\n')
        self.write("value.h", "constexpr int kValue = 1;\n")
        self.bangcc("-c", "kernel.mlu", "-MD")
        rule = (self.folder / "kernel.d").read_text()
        self.assertTrue(rule.startswith("kernel.o:"), rule)
        self.assertIn("value.h", rule)
        self.bangcc("-c", "kernel.mlu", "-o", "x.o", "-MMD", "-MF", "rule", "-MT", "target")
        rule = (self.folder / "rule").read_text()
        self.assertTrue(rule.startswith("target:") and "value.h" in rule, rule)

    def test_rewritten_text_can_be_kept(self):
        self.write("hello.mlu", HELLO)
        self.bangcc("-c", "hello.mlu", "-DVALUE=1", "-save-temps")
        self.assertTrue("::bang::Launch<" in (self.folder / "hello.device.ii").read_text())
        self.assertTrue("::bang::Configure(" in (self.folder / "hello.host.ii").read_text())

    def test_warnings_are_said_once_and_name_the_line(self):
        self.write("kernel.mlu", "__mlu_global__ void Kernel(float *out) {\n"
                   "  __nram__ float tile[64];\n  double x = 1;\n  out[0] = x;\n}\n"
                   "int Host() {\n  int unused = 1;\n  return 0;\n}\n")
        said = self.bangcc("-c", "-Wall", "kernel.mlu").stderr
        self.assertEqual(said.count("kernel.mlu:3: warning: double is no type of the device"), 1, said)
        self.assertEqual(said.count("kernel.mlu:7: warning: unused variable"), 1, said)
        self.assertEqual(said.count("warning"), 2, said)

    def test_what_only_kernels_use_is_used(self):
        self.write("kernel.mlu", "static int helper(int x) { return x + 1; }\n"
                   "static const float kTable[3] = {1, 2, 3};\nstatic int scale = 4;\n"
                   "namespace { float Half(float x) { return x / 2; } }\n"
                   "__mlu_global__ void Kernel(float *out, int n) {\n"
                   "  out[0] = helper(n) + Half(kTable[1]) * scale;\n}\n")
        self.bangcc("-c", "-Wall", "-Wextra", "-Werror", "kernel.mlu")
        self.write("kernel.mlu", "__mlu_global__ void Kernel(float *out) { out[0] = 1; }\n"
                   "static int Nobody() { return 1; }\n")
        said = self.bangcc("-c", "-Wall", "kernel.mlu").stderr
        self.assertIn("kernel.mlu:2: warning: ", said)
        self.assertIn("unused", said)

    def test_unroll_pragmas_are_no_warning(self):
        self.write("kernel.mlu", "__mlu_global__ void Kernel(float *out) {\n#pragma unroll 4\n"
                   "  for (int i = 0; i < 4; ++i) out[i] = i;\n#pragma unroll\n"
                   "  for (int i = 0; i < 4; ++i) out[i] = i;\n}\n")
        self.assertEqual(self.bangcc("-c", "-Wall", "-Wextra", "kernel.mlu").stderr, "")

    def test_refusals(self):
        self.write("hello.mlu", HELLO)
        self.assertIn("-S", self.bangcc("-S", "hello.mlu", status=1).stderr)
        self.assertIn("no such file", self.bangcc("missing.mlu", status=1).stderr)
        self.assertIn("no input files", self.bangcc(status=1).stderr)
        self.assertIn("-o with -c takes one file",
                      self.bangcc("-c", "hello.mlu", "hello.mlu", "-o", "x.o", status=1).stderr)
        self.assertIn("nosuchcompiler", self.bangcc("--bang-host-compiler=nosuchcompiler", "hello.mlu",
                                                     status=1).stderr)

    def test_failures_leave_no_object(self):
        self.write("broken.mlu", "__mlu_global__ void Kernel(int *out) { *out = ; }\n")
        self.bangcc("-c", "broken.mlu", status=1)
        self.assertFalse((self.folder / "broken.o").exists())

    def test_help_and_version(self):
        self.assertIn("--bang-mlu-arch", self.bangcc("--help").stdout)
        self.assertRegex(self.bangcc("--version").stdout, r"^bangcc \d+\.\d+\.\d+")
        self.write("hello.mlu", HELLO)
        self.assertIn("-fsanitize=thread", self.bangcc("-v", "-c", "hello.mlu", "-DVALUE=1").stderr)


if __name__ == "__main__":
    unittest.main()
