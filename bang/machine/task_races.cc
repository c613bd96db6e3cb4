// SPDX-License-Identifier: Apache-2.0
#include "machine/task_races.h"

#include <string.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace bang {

namespace {

bool SameSite(const Races::Site& a, const Races::Site& b) {
  return a.code == b.code && a.name == b.name && a.where.line == b.where.line &&
         a.where.file == b.where.file;
}

}  // namespace

void GdramAccesses::Add(Notes* notes, const GdramAccess& access) {
  auto& list = notes->list;
  if (!list.empty()) {
    GdramAccess& last = list.back();
    // Loops go on where they were.
    if (last.end == access.begin && last.task == access.task && last.site == access.site) {
      last.end = access.end;
      return;
    }
  }
  // They also come by with the same operands again.
  const size_t look_back = std::min<size_t>(list.size(), 8);
  for (size_t i = list.size() - look_back; i < list.size(); ++i) {
    if (list[i].begin <= access.begin && access.end <= list[i].end) return;
  }
  if (list.size() >= notes->sort_at) {
    Sort(notes);
    const size_t sort_at = std::max(notes->sort_at, 4 * list.size());
    if (left_ != nullptr) {
      left_->count -= static_cast<int64_t>(sort_at - notes->sort_at);
      if (left_->spent()) list = {};
    }
    notes->sort_at = sort_at;
  }
  list.push_back(access);
}

uint32_t GdramAccesses::Number(const Races::Site& site) {
  for (size_t i = sites_.size(); i-- > 0;) {
    if (SameSite(sites_[i], site)) return static_cast<uint32_t>(i);
  }
  sites_.push_back(site);
  return static_cast<uint32_t>(sites_.size() - 1);
}

void GdramAccesses::Load(int task, const char* data, int64_t bytes, const Races::Site& site) {
  // What the task itself has stored before is its own, whoever else stores the same bytes.
  const auto& own = stores_.list;
  const size_t look_back = std::min<size_t>(own.size(), 8);
  for (size_t i = own.size() - look_back; i < own.size(); ++i) {
    if (own[i].begin <= data && data + bytes <= own[i].end) return;
  }
  Add(&loads_, {data, data + bytes, task, Number(site)});
}

void GdramAccesses::Store(int task, const char* data, int64_t bytes, const Races::Site& site) {
  Add(&stores_, {data, data + bytes, task, Number(site)});
}

void GdramAccesses::Sort(Notes* notes) {
  auto& list = notes->list;
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
    return std::tie(a.begin, a.end, a.site, a.task) < std::tie(b.begin, b.end, b.site, b.task);
  });
  size_t kept = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    GdramAccess next = list[i];
    if (kept > 0) {
      GdramAccess& last = list[kept - 1];
      next.begin = std::max(next.begin, last.end);
      if (next.begin >= next.end) continue;
      if (next.begin == last.end && next.task == last.task && next.site == last.site) {
        last.end = next.end;
        continue;
      }
    }
    list[kept++] = next;
  }
  list.resize(kept);
}

StoredBytes::Page* StoredBytes::PageOf(Stripe* stripe, uintptr_t page) {
  std::unique_ptr<Page>& found = stripe->pages[page];
  if (found == nullptr) found = std::make_unique<Page>();
  return found.get();
}

namespace {

// The bits of bytes [begin, end) of a page that lie in a word.
uint64_t Bits(int64_t begin, int64_t end, int64_t word) {
  const int64_t low = std::max<int64_t>(begin - word * 64, 0);
  const int64_t high = std::min<int64_t>(end - word * 64, 64);
  return (high == 64 ? ~uint64_t{0} : (uint64_t{1} << high) - 1) & ~((uint64_t{1} << low) - 1);
}

}  // namespace

bool StoredBytes::Page::AnyStored(int64_t begin, int64_t end) const {
  for (int64_t word = begin / 64; word * 64 < end; ++word) {
    if (stored[word] & Bits(begin, end, word)) return true;
  }
  return false;
}

void StoredBytes::Page::NoteStored(int64_t begin, int64_t end) {
  for (int64_t word = begin / 64; word * 64 < end; ++word) stored[word] |= Bits(begin, end, word);
}

void StoredBytes::Page::NoteChanged(int64_t begin, int64_t end) {
  for (int64_t word = begin / 64; word * 64 < end; ++word) changed[word] |= Bits(begin, end, word);
}

void StoredBytes::Page::NoteChanges(int64_t begin, int64_t end, const char* now, const char* next) {
  for (int64_t word = begin / 64; word * 64 < end; ++word) {
    const int64_t first = std::max(begin, word * 64), last = std::min(end, word * 64 + 64);
    uint64_t open = stored[word] & ~changed[word] & Bits(begin, end, word);
    if (open == 0 || memcmp(now + (first - begin), next + (first - begin), last - first) == 0)
      continue;
    for (; open != 0; open &= open - 1) {
      const int64_t at = word * 64 + __builtin_ctzll(open) - begin;
      if (now[at] != next[at]) changed[word] |= open & -open;
    }
  }
}

void StoredBytes::Store(char* dst, const char* src, int64_t bytes) {
  while (bytes > 0) {
    const auto address = reinterpret_cast<uintptr_t>(dst);
    const uintptr_t number = address / kPageBytes;
    const auto begin = static_cast<int64_t>(address % kPageBytes);
    const int64_t part = std::min(bytes, kPageBytes - begin), end = begin + part;
    Stripe& stripe = StripeOf(number);
    {
      std::lock_guard lock(stripe.mutex);
      Page* const page = PageOf(&stripe, number);
      if (page->AnyStored(begin, end)) page->NoteChanges(begin, end, dst, src);
      page->NoteStored(begin, end);
      memmove(dst, src, part);
    }
    dst += part;
    src += part;
    bytes -= part;
  }
}

void StoredBytes::Announce(const char* data, int64_t bytes, Scalar* scalar) {
  const auto address = reinterpret_cast<uintptr_t>(data);
  const auto begin = static_cast<int64_t>(address % kPageBytes);
  if (bytes <= static_cast<int64_t>(sizeof scalar->before_) && begin + bytes <= kPageBytes) {
    Stripe& stripe = StripeOf(address / kPageBytes);
    scalar->lock_ = std::unique_lock(stripe.mutex);
    scalar->page_ = PageOf(&stripe, address / kPageBytes);
    scalar->data_ = data;
    scalar->bytes_ = bytes;
    memcpy(scalar->before_, data, bytes);
    return;
  }
  // What a copy of a whole struct will bring is not known: it counts as a change.
  while (bytes > 0) {
    const auto at = reinterpret_cast<uintptr_t>(data);
    const auto first = static_cast<int64_t>(at % kPageBytes);
    const int64_t part = std::min(bytes, kPageBytes - first);
    Stripe& stripe = StripeOf(at / kPageBytes);
    std::lock_guard lock(stripe.mutex);
    Page* const page = PageOf(&stripe, at / kPageBytes);
    page->NoteStored(first, first + part);
    page->NoteChanged(first, first + part);
    data += part;
    bytes -= part;
  }
}

void StoredBytes::Finish(Scalar* scalar) {
  const auto begin =
      static_cast<int64_t>(reinterpret_cast<uintptr_t>(scalar->data_) % kPageBytes);
  const int64_t end = begin + scalar->bytes_;
  Page* const page = scalar->page_;
  if (page->AnyStored(begin, end)) page->NoteChanges(begin, end, scalar->before_, scalar->data_);
  page->NoteStored(begin, end);
  scalar->lock_.unlock();
}

bool StoredBytes::AnyChanged(const char* begin, const char* end) {
  while (begin < end) {
    const auto address = reinterpret_cast<uintptr_t>(begin);
    const auto first = static_cast<int64_t>(address % kPageBytes);
    const int64_t part = std::min<int64_t>(end - begin, kPageBytes - first);
    Stripe& stripe = StripeOf(address / kPageBytes);
    std::lock_guard lock(stripe.mutex);
    const Page* const page = PageOf(&stripe, address / kPageBytes);
    for (int64_t word = first / 64; word * 64 < first + part; ++word) {
      if (page->changed[word] & Bits(first, first + part, word)) return true;
    }
    begin += part;
  }
  return false;
}

namespace {

struct Owned {
  const GdramAccess* access;
  int64_t owner;
};

// Bytes and the two tasks with the lowest numbers that store there.
struct Segment {
  const char* begin;
  const char* end;
  Owned first, second;  // second.access may be null
};

std::vector<Segment> Segments(const std::vector<GdramAccesses*>& tasks) {
  std::vector<Owned> stores;
  for (size_t i = 0; i < tasks.size(); ++i) {
    for (const GdramAccess& store : tasks[i]->SortedStores())
      stores.push_back({&store, static_cast<int64_t>(i)});
  }
  std::sort(stores.begin(), stores.end(), [](const Owned& a, const Owned& b) {
    return std::tie(a.access->begin, a.owner) < std::tie(b.access->begin, b.owner);
  });
  std::vector<Segment> segments;
  std::map<int64_t, const GdramAccess*> open;  // by owner; each has at most one at a place
  std::multimap<const char*, int64_t> ends;
  const char* at = nullptr;
  const auto advance = [&](const char* to) {
    while (!open.empty() && at < to) {
      const char* const end = std::min(to, ends.begin()->first);
      if (at < end) {
        const auto first = open.begin(), second = std::next(first);
        segments.push_back({at, end, {first->second, first->first}, {nullptr, 0}});
        if (second != open.end()) segments.back().second = {second->second, second->first};
        at = end;
      }
      while (!ends.empty() && ends.begin()->first <= at) {
        open.erase(ends.begin()->second);
        ends.erase(ends.begin());
      }
    }
    at = to;
  };
  for (const Owned& store : stores) {
    advance(store.access->begin);
    open.emplace(store.owner, store.access);
    ends.emplace(store.access->end, store.owner);
  }
  while (!open.empty()) advance(ends.begin()->first);
  return segments;
}

}  // namespace

TaskRace FindTaskRace(const std::vector<GdramAccesses*>& tasks, StoredBytes* stored,
                      std::vector<EqualStores>* equal) {
  TaskRace race;
  std::tuple<int64_t, int64_t, const char*> best;
  const auto consider = [&](Owned a, bool a_stores, Owned b, bool b_stores, const char* address) {
    if (a.owner > b.owner) {
      std::swap(a, b);
      std::swap(a_stores, b_stores);
    }
    const std::tuple key(b.owner, a.owner, address);
    if (race.later != nullptr && best <= key) return;
    best = key;
    race = {b.access,
            a.access,
            tasks[b.owner]->site(*b.access),
            tasks[a.owner]->site(*a.access),
            b_stores,
            a_stores,
            address};
  };
  const std::vector<Segment> segments = Segments(tasks);
  for (const Segment& segment : segments) {
    if (segment.second.access == nullptr) continue;
    if (stored->AnyChanged(segment.begin, segment.end)) {
      consider(segment.first, true, segment.second, true, segment.begin);
    } else {
      const Owned& later = segment.second;
      equal->push_back({later.access, tasks[later.owner]->site(*later.access)});
    }
  }
  for (size_t i = 0; i < tasks.size() && !segments.empty(); ++i) {
    for (const GdramAccess& load : tasks[i]->SortedLoads()) {
      const Owned loading{&load, static_cast<int64_t>(i)};
      auto segment = std::upper_bound(
          segments.begin(), segments.end(), load.begin,
          [](const char* begin, const Segment& s) { return begin < s.end; });
      for (; segment != segments.end() && segment->begin < load.end; ++segment) {
        const Owned& other =
            segment->first.owner != loading.owner ? segment->first : segment->second;
        if (other.access == nullptr) continue;
        consider(loading, false, other, true, std::max(load.begin, segment->begin));
        break;
      }
    }
  }
  return race;
}

}  // namespace bang
