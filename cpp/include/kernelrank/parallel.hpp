// Threads and cancellation.
#pragma once

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <exception>
#include <functional>

namespace kernelrank {

// A flag that long loops check. The owner may override poll() to find out whether
// to stop; it is called on the calling thread only.
class Cancellation {
 public:
  virtual ~Cancellation() = default;
  virtual void poll() {}
  void request() noexcept { requested_.store(true, std::memory_order_relaxed); }
  bool requested() const noexcept { return requested_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> requested_{false};
};

struct Cancelled : std::exception {
  const char* what() const noexcept override { return "cancelled"; }
};

struct Range {
  std::size_t begin, end;
  std::size_t size() const noexcept { return end - begin; }
};

// One thread of a team. Every member runs the same function and meets the others
// at wait(); after a cancellation members skip their loops but still meet, so that
// no member waits for ever.
class Member {
 public:
  // Rows between two checks of the cancellation flag.
  static constexpr std::size_t kBlock = std::size_t{1} << 16;

  Member(int index, int size, std::barrier<>* meeting, Cancellation& cancel)
      : index_(index), size_(size), polls_(index == 0), meeting_(meeting), cancel_(cancel) {}
  // The same thread as a team of one, for work that is not shared.
  Member alone() const {
    Member self(0, 1, nullptr, cancel_);
    self.polls_ = polls_;
    return self;
  }

  int index() const noexcept { return index_; }
  int size() const noexcept { return size_; }
  bool first() const noexcept { return index_ == 0; }
  bool last() const noexcept { return index_ == size_ - 1; }
  void wait() {
    if (meeting_ != nullptr) meeting_->arrive_and_wait();
  }
  bool stop() {
    if (polls_) cancel_.poll();
    return cancel_.requested();
  }
  // Contiguous part of 0..n for this member, cut at multiples of `align`.
  Range share(std::size_t n, std::size_t align = 1) const noexcept {
    const std::size_t blocks = (n + align - 1) / align;
    const auto cut = [&](int k) {
      return std::min(n, blocks * static_cast<std::size_t>(k) / static_cast<std::size_t>(size_) * align);
    };
    return {cut(index_), cut(index_ + 1)};
  }
  // Calls body(begin, end) over `range` in blocks, until the work is cancelled.
  template <class Body>
  void blocks(Range range, Body&& body, std::size_t block = kBlock) {
    for (std::size_t at = range.begin; at < range.end && !stop(); at += block) {
      body(at, std::min(range.end, at + block));
    }
  }

 private:
  int index_, size_;
  bool polls_;
  std::barrier<>* meeting_;
  Cancellation& cancel_;
};

// Runs work(member) on n_threads threads, of which the caller is member 0, or on fewer if the system does not grant
// them; members know the size of their team. Rethrows an exception of a member, or throws Cancelled after a
// cancellation.
void run_team(int n_threads, Cancellation& cancel, const std::function<void(Member&)>& work);

}  // namespace kernelrank
