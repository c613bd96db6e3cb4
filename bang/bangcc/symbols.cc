// SPDX-License-Identifier: Apache-2.0
#include "bangcc/symbols.h"

#include <ctype.h>
#include <elf.h>
#include <string.h>

#include <unordered_set>

#include "bangcc/process.h"

namespace bangcc {
namespace {

// The function that a record, a static variable of it, stands in: _ZZ<function>E<length>name. A
// function with C linkage is there with its length, too.
std::string Owner(const std::string& record, const std::string& ending,
                  const std::unordered_set<std::string>& defined) {
  const std::string inner = record.substr(3, record.size() - 3 - ending.size());
  std::string mangled = "_Z" + inner;
  if (defined.count(mangled) != 0) return mangled;
  const size_t name = inner.find_first_not_of("0123456789");
  std::string plain = name == inner.npos ? "" : inner.substr(name);
  return defined.count(plain) != 0 ? plain : "";
}

}  // namespace

bool ReadSymbols(const std::string& object, DeviceSymbols* symbols) {
  std::string file;
  if (!ReadFile(object, &file) || file.size() < sizeof(Elf64_Ehdr) ||
      memcmp(file.data(), ELFMAG, SELFMAG) != 0)
    return false;
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(file.data());
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(file.data() + header->e_shoff);
  std::unordered_set<std::string> defined;
  for (int i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const char* names = file.data() + sections[sections[i].sh_link].sh_offset;
    const auto* symbol = reinterpret_cast<const Elf64_Sym*>(file.data() + sections[i].sh_offset);
    for (size_t n = sections[i].sh_size / sizeof(Elf64_Sym); n > 0; --n, ++symbol) {
      const char* name = names + symbol->st_name;
      if (symbol->st_shndx != SHN_UNDEF)
        defined.insert(name);
      else if (strncmp(name, "__tsan_", 7) == 0)
        symbols->accesses.push_back(name);
    }
  }
  for (const std::string& name : defined) {
    if (name.compare(0, 3, "_ZZ") != 0) continue;
    for (const char* ending : {"E18bang_kernel_record", "E26bang_private_kernel_record"}) {
      const std::string end = ending;
      if (name.size() < end.size() || name.compare(name.size() - end.size(), end.size(), end) != 0)
        continue;
      const std::string owner = Owner(name, end, defined);
      if (owner.empty()) continue;
      symbols->kernels.push_back(owner);
      if (end.find("private") != end.npos) symbols->private_kernels.push_back(owner);
    }
  }
  return true;
}

}  // namespace bangcc
