#include "kernelrank/parallel.hpp"

#include <mutex>
#include <optional>
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
    int size = 1;
    std::optional<std::barrier<>> meeting;
    // A member that fails (out of memory) makes the others stop and does not wait for them.
    const auto take_part = [&](int index) {
      try {
        Member member(index, size, &*meeting, cancel);
        work(member);
      } catch (...) {
        const std::scoped_lock lock(mutex);
        if (!failure) failure = std::current_exception();
        cancel.request();
        meeting->arrive_and_drop();
      }
    };
    // Threads start together, once it is known how many the system grants, which is the size of the team.
    std::atomic<bool> start{false};
    std::vector<std::jthread> helpers;
    helpers.reserve(static_cast<std::size_t>(n_threads - 1));
    try {
      for (int index = 1; index < n_threads; ++index) {
        helpers.emplace_back([&, index] {
          start.wait(false);
          take_part(index);
        });
        ++size;
      }
    } catch (const std::exception&) {  // no more threads, or out of memory
    }
    meeting.emplace(size);
    start = true;
    start.notify_all();
    take_part(0);
  }  // jthreads join here
  if (failure) std::rethrow_exception(failure);
  if (cancel.requested()) throw Cancelled{};
}

}  // namespace kernelrank
