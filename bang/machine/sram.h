// SPDX-License-Identifier: Apache-2.0
//
// The SRAM of one cluster: the arrays that its cores share.
#ifndef BANG_MACHINE_SRAM_H_
#define BANG_MACHINE_SRAM_H_

#include <stdint.h>

#include <memory>
#include <vector>

#include "bang/launch.h"
#include "machine/arrays.h"

namespace bang {

class Sram {
 public:
  // Another task begins: no array is in use.
  void Clear();
  // The array of this record, which is in use from now on.
  Array& Get(const ArrayRecord& record);
  // The record of the array in use that holds the byte; null: none does.
  const ArrayRecord* Find(const void* address) const;
  // Bytes in use, were this array in use, too.
  int64_t UsedWith(const ArrayRecord& record) const;
  std::vector<std::unique_ptr<Array>>* arrays() { return &arrays_; }

 private:
  struct Freer {
    void operator()(char* data) const;
  };
  struct Entry {
    const ArrayRecord* record;
    std::unique_ptr<char, Freer> data;
    bool in_use;
  };
  std::vector<Entry> entries_;  // beside arrays_
  std::vector<std::unique_ptr<Array>> arrays_;
};

}  // namespace bang

#endif  // BANG_MACHINE_SRAM_H_
