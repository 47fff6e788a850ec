// A growing array that keeps its content and can release its memory to the caller.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace kernelrank {

// Unlike std::vector it grows by realloc, which moves the pages of a large array instead of copying them, does not
// initialise new elements, and can release its memory.
template <class T>
class Column {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  struct Free {
    void operator()(T* memory) const noexcept { std::free(memory); }
  };
  using Memory = std::unique_ptr<T, Free>;

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T* data() noexcept { return memory_.get(); }
  const T* data() const noexcept { return memory_.get(); }
  T& operator[](std::size_t k) noexcept { return memory_.get()[k]; }
  const T& operator[](std::size_t k) const noexcept { return memory_.get()[k]; }
  T& back() noexcept { return memory_.get()[size_ - 1]; }
  void clear() noexcept { size_ = 0; }

  // Reserves room for n more elements; returns the address of the first.
  T* reserve(std::size_t n) {
    if (size_ + n > capacity_) set_capacity(std::max(size_ + n, capacity_ + capacity_ / 2));
    return memory_.get() + size_;
  }
  // Appends n uninitialised elements; returns the address of the first.
  T* extend(std::size_t n) {
    T* const begin = reserve(n);
    size_ += n;
    return begin;
  }
  void push(T element) { *extend(1) = element; }
  // Releases the memory, cut to size.
  Memory release() {
    set_capacity(std::max<std::size_t>(size_, 1));
    size_ = capacity_ = 0;
    return std::move(memory_);
  }

 private:
  void set_capacity(std::size_t n) {
    void* const memory =
        n > std::size_t{PTRDIFF_MAX} / sizeof(T) ? nullptr : std::realloc(memory_.get(), n * sizeof(T));
    if (memory == nullptr) throw std::bad_alloc();
    static_cast<void>(memory_.release());  // freed by realloc
    memory_.reset(static_cast<T*>(memory));
    capacity_ = n;
  }

  Memory memory_;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace kernelrank
