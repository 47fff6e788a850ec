#include "kernelrank/parallel.hpp"

#include <mutex>
#include <thread>
#include <vector>

namespace kernelrank {

void run_team(int n_threads, Cancellation& cancel, const std::function<void(Member&)>& work) {
  std::mutex mutex;
  std::exception_ptr failure;
  if (n_threads <= 1) {
    Member alone(0, 1, nullptr, cancel);
    work(alone);
  } else {
    std::barrier<> meeting(n_threads);
    // A member that fails (memory) makes the others stop and no longer waits for them.
    const auto take_part = [&](Member member) {
      try {
        work(member);
      } catch (...) {
        const std::scoped_lock lock(mutex);
        if (!failure) failure = std::current_exception();
        cancel.request();
        meeting.arrive_and_drop();
      }
    };
    // Helpers start together, and only once all of them exist: a thread that
    // cannot be created must not leave the others waiting at the barrier.
    enum : int { kHold, kGo, kAbandon };
    std::atomic<int> start{kHold};
    std::vector<std::jthread> helpers;
    helpers.reserve(static_cast<std::size_t>(n_threads - 1));
    try {
      for (int index = 1; index < n_threads; ++index) {
        helpers.emplace_back([&, index] {
          start.wait(kHold);
          if (start.load() == kAbandon) return;
          take_part(Member(index, n_threads, &meeting, cancel));
        });
      }
    } catch (...) {
      start = kAbandon;
      start.notify_all();
      throw;
    }
    start = kGo;
    start.notify_all();
    take_part(Member(0, n_threads, &meeting, cancel));
  }  // jthreads join here
  if (failure) std::rethrow_exception(failure);
  if (cancel.requested()) throw Cancelled{};
}

}  // namespace kernelrank
