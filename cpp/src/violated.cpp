#include "kernelrank/violated.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "kernelrank/counting.hpp"
#include "kernelrank/workspace.hpp"
#include "sweeps.hpp"

namespace kernelrank {
namespace {

// A product with the Laplacian. The members of the team share an object of this class.
template <bool kWeighted>
class Product {
 public:
  Product(const Ranking& ranking, Workspace& workspace, std::span<const double> v, const double* scale, double* out,
          double* inner, int n_threads, Store store)
      : ranking_(ranking),
        workspace_(workspace),
        v_(v),
        scale_(scale),
        out_(out),
        inner_(inner),
        add_(store == Store::add) {
    const std::size_t m = ranking.n_rows();
    workspace.values.resize(m);
    workspace.above.resize(m);
    if (n_threads > 1) workspace.below.resize(m);
  }

  void multiply_query(Member& team, int thread, std::size_t index) {
    const Query& query = ranking_.queries()[index];
    if (query.n_levels < 2) {
      if (team.first()) write_nothing(query, index);
      return;
    }
    const Method method = resolve(Method::automatic, query);
    const bool key_suffices = method == Method::levels || query.distinct();
    double* values = workspace_.values.data() + query.begin;
    const Arranged q{query.size,
                     query.n_levels,
                     workspace_.records.data() + query.begin,
                     key_suffices ? nullptr : workspace_.levels.data() + query.begin,
                     ranking_.level_starts(query),
                     values,
                     1.0};
    // A constant does not change the product, but costs precision in the sums.
    const double centre = v_[row(query, q, query.size / 2)];
    const Range rows = team.share(query.size, kSumBlock);
    team.blocks(rows, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) values[i] = weight(query, q, i) * (v_[row(query, q, i)] - centre);
    });
    team.wait();
    auto& own = workspace_.threads[static_cast<std::size_t>(thread)];
    // Above and below: by two threads into two arrays, or by one into the same.
    const bool alone = team.size() == 1;
    double* above = workspace_.above.data() + query.begin;
    double* below = alone ? above : workspace_.below.data() + query.begin;
    if (team.first()) sweep_sums(Side::above, Store::replace, method, q, own, team, above);
    if (team.last()) sweep_sums(Side::below, alone ? Store::add : Store::replace, method, q, own, team, below);
    team.wait();
    if (!alone) add_up(team, rows, below, above);
    write(team, query, index, q, rows, above, centre);
    team.wait();
    if (team.first() && !team.stop()) total(query, index);
  }

 private:
  std::size_t row(const Query& query, const Arranged& q, std::size_t i) const {
    return ranking_.row(query.begin + q.slot(i));
  }
  double weight(const Query& query, const Arranged& q, std::size_t i) const {
    return kWeighted ? ranking_.weights(query)[q.slot(i)] : 1.0;
  }

  static void add_up(Member& team, Range rows, const double* from, double* to) {
    team.blocks(rows, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) to[i] += from[i];
    });
  }

  void write(Member& team, const Query& query, std::size_t index, const Arranged& q, Range rows, const double* sums,
             double centre) {
    const auto* c = counts_of<kWeighted>(workspace_).c.data() + query.begin;
    const auto* d = counts_of<kWeighted>(workspace_).d.data() + query.begin;
    double* partial = workspace_.partial_inner.data() + first_block(query.begin, index);
    team.blocks(
        rows,
        [&](std::size_t begin, std::size_t end) {
          double inner = 0;
          for (std::size_t i = begin; i < end; ++i) {
            const std::size_t at = row(query, q, i);
            const double degree = static_cast<double>(c[i]) + static_cast<double>(d[i]);
            const double product = degree * q.values[i] - weight(query, q, i) * sums[i];
            inner += product * (kWeighted ? v_[at] - centre : q.values[i]);
            out_[at] = (add_ ? out_[at] : 0.0) + scale_[index] * product;
          }
          partial[begin / kSumBlock] = inner;
        },
        kSumBlock);
  }

  void total(const Query& query, std::size_t index) {
    const double* partial = workspace_.partial_inner.data() + first_block(query.begin, index);
    double inner = 0;
    for (std::size_t block = 0; block * kSumBlock < query.size; ++block) inner += partial[block];
    inner_[index] = inner;
  }

  void write_nothing(const Query& query, std::size_t index) {
    inner_[index] = 0;
    if (add_) return;
    for (std::size_t slot = query.begin; slot < query.begin + query.size; ++slot) out_[ranking_.row(slot)] = 0;
  }

  const Ranking& ranking_;
  Workspace& workspace_;
  std::span<const double> v_;
  const double* scale_;
  double *out_, *inner_;
  bool add_;
};

}  // namespace

ViolatedPairs::ViolatedPairs(const Ranking& ranking) : ranking_(ranking), workspace_(ranking.borrow_workspace()) {}

ViolatedPairs::~ViolatedPairs() { ranking_.return_workspace(std::move(workspace_)); }

void ViolatedPairs::count(std::span<const double> scores, const double* scale, double* g, double* violations,
                          double* inner, int n_threads, Cancellation& cancel) {
  counted_ = false;  // until all of them are counted
  if (ranking_.weighted()) {
    count_as<double>(scores, scale, g, violations, inner, n_threads, cancel);
  } else {
    count_as<std::int64_t>(scores, scale, g, violations, inner, n_threads, cancel);
  }
  counted_ = true;
}

template <class Value>
void ViolatedPairs::count_as(std::span<const double> scores, const double* scale, double* g, double* violations,
                             double* inner, int n_threads, Cancellation& cancel) {
  std::vector<Value> totals(ranking_.queries().size());
  const CountRequest request{.scores = scores, .n_threads = n_threads};
  const CountAnswer<Value> answer{.violations = totals.data(), .g = g, .scale = scale, .inner = inner};
  count_violations(ranking_, request, answer, *workspace_, cancel);
  std::transform(totals.begin(), totals.end(), violations, [](Value total) { return static_cast<double>(total); });
}

void ViolatedPairs::require_count() const {
  if (!counted_) throw std::logic_error("violated pairs must be counted first");
}

void ViolatedPairs::multiply(std::span<const double> v, const double* scale, Store store, double* out, double* inner,
                             int n_threads, Cancellation& cancel) {
  require_count();
  workspace_->prepare(static_cast<std::size_t>(n_threads));
  const auto run = [&](auto product) {
    run_team(n_threads, cancel, [&](Member& member) {
      over_queries(member, ranking_.queries(), ranking_.n_rows(),
                   [&](Member& team, int thread, std::size_t q) { product.multiply_query(team, thread, q); });
    });
  };
  if (ranking_.weighted()) {
    run(Product<true>(ranking_, *workspace_, v, scale, out, inner, n_threads, store));
  } else {
    run(Product<false>(ranking_, *workspace_, v, scale, out, inner, n_threads, store));
  }
}

void ViolatedPairs::degrees(const double* scale, double* out) const {
  require_count();
  const auto write = [&](const auto& counts, std::size_t index, const Query& query) {
    for (std::size_t i = query.begin; i < query.begin + query.size; ++i) {
      const std::uint32_t slot = workspace_->records.data()[i].slot;
      const double degree = static_cast<double>(counts.c.data()[i]) + static_cast<double>(counts.d.data()[i]);
      out[ranking_.row(query.begin + slot)] =
          scale[index] * degree * (ranking_.weighted() ? ranking_.weights(query)[slot] : 1.0);
    }
  };
  std::fill_n(out, ranking_.n_rows(), 0.0);
  for (std::size_t index = 0; index < ranking_.queries().size(); ++index) {
    const Query& query = ranking_.queries()[index];
    if (query.n_levels < 2) continue;
    ranking_.weighted() ? write(workspace_->sums, index, query) : write(workspace_->counts, index, query);
  }
}

}  // namespace kernelrank
