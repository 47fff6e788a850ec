// Uninitialised memory for large working arrays.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace kernelrank {

// An array that grows without construction or copying: resize() discards the content.
// Large arrays request huge pages, because the counting passes read at random.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  T* resize(std::size_t n) {
    if (n > capacity_) {
      memory_.reset();
      capacity_ = 0;
      constexpr std::size_t kHugePage = std::size_t{1} << 21;
      const std::size_t align = n * sizeof(T) >= 8 * kHugePage ? kHugePage : 64;
      const std::size_t bytes = (n * sizeof(T) + align - 1) / align * align;
      void* memory = std::aligned_alloc(align, bytes);
      if (memory == nullptr) throw std::bad_alloc();
#if defined(__linux__) && defined(MADV_HUGEPAGE)
      if (align == kHugePage) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
      memory_.reset(static_cast<T*>(memory));
      capacity_ = n;
    }
    return memory_.get();
  }
  T* data() noexcept { return memory_.get(); }
  const T* data() const noexcept { return memory_.get(); }

 private:
  struct Free {
    void operator()(T* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<T, Free> memory_;
  std::size_t capacity_ = 0;
};

}  // namespace kernelrank
