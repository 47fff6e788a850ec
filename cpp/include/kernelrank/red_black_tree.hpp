// The order-statistics tree of Airola et al. (2011), section 4.2: the reference for tests of the
// fast path, and the algorithm of the paper in the benchmarks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace kernelrank {

// A red-black tree whose nodes store the size of their subtree. Equal keys share a node.
template <class Value>
class RedBlackTree {
  using Link = std::uint32_t;
  static constexpr Link kNil = 0;  // node 0 is the black sentinel
  struct Node {
    std::uint32_t key;
    Link parent, left, right;
    Value own, size;  // nodesize(x) and size(x) of the paper, or their weights
    bool red;
  };

 public:
  using Memory = std::vector<Node>;

  RedBlackTree(Memory& memory, std::size_t n) : nodes_(memory) {
    nodes_.clear();
    nodes_.reserve(n + 1);
    nodes_.push_back(Node{0, kNil, kNil, kNil, Value{0}, Value{0}, false});
  }

  // Tree-Insert: O(log r) for r distinct keys.
  void insert(std::uint32_t key, Value weight) {
    Link parent = kNil;
    for (Link x = root_; x != kNil; x = key < nodes_[x].key ? nodes_[x].left : nodes_[x].right) {
      nodes_[x].size += weight;  // every ancestor gains the new node
      if (nodes_[x].key == key) {
        nodes_[x].own += weight;
        return;
      }
      parent = x;
    }
    const auto added = static_cast<Link>(nodes_.size());
    nodes_.push_back(Node{key, parent, kNil, kNil, weight, weight, true});
    if (parent == kNil) {
      root_ = added;
    } else if (key < nodes_[parent].key) {
      nodes_[parent].left = added;
    } else {
      nodes_[parent].right = added;
    }
    rebalance(added);
  }

  // Count-Smaller (algorithm 2) and its mirror image, without the recursion.
  Value count_smaller(std::uint32_t key) const noexcept {
    Value count{0};
    for (Link x = root_; x != kNil;) {
      if (nodes_[x].key < key) {
        count += nodes_[nodes_[x].left].size + nodes_[x].own;
        x = nodes_[x].right;
      } else {
        x = nodes_[x].left;
      }
    }
    return count;
  }
  Value count_larger(std::uint32_t key) const noexcept {
    Value count{0};
    for (Link x = root_; x != kNil;) {
      if (nodes_[x].key > key) {
        count += nodes_[nodes_[x].right].size + nodes_[x].own;
        x = nodes_[x].left;
      } else {
        x = nodes_[x].right;
      }
    }
    return count;
  }

 private:
  // Cormen et al., RB-Insert-Fixup.
  void rebalance(Link x) noexcept {
    while (nodes_[nodes_[x].parent].red) {
      Link parent = nodes_[x].parent;
      const Link grandparent = nodes_[parent].parent;
      const bool on_left = parent == nodes_[grandparent].left;
      const Link uncle = on_left ? nodes_[grandparent].right : nodes_[grandparent].left;
      if (nodes_[uncle].red) {
        nodes_[parent].red = nodes_[uncle].red = false;
        nodes_[grandparent].red = true;
        x = grandparent;
        continue;
      }
      if (x == (on_left ? nodes_[parent].right : nodes_[parent].left)) {  // inner grandchild
        rotate(parent, on_left);
        std::swap(x, parent);
      }
      nodes_[parent].red = false;
      nodes_[grandparent].red = true;
      rotate(grandparent, !on_left);
    }
    nodes_[root_].red = false;
  }

  // Left-Rotate or Right-Rotate at x; only the two subtree sizes change.
  void rotate(Link x, bool to_left) noexcept {
    const auto inner = to_left ? &Node::left : &Node::right;
    const auto outer = to_left ? &Node::right : &Node::left;
    const Link y = nodes_[x].*outer;
    const Link moved = nodes_[y].*inner;
    const Link parent = nodes_[x].parent;
    nodes_[x].*outer = moved;
    if (moved != kNil) nodes_[moved].parent = x;
    nodes_[y].parent = parent;
    if (parent == kNil) {
      root_ = y;
    } else if (nodes_[parent].left == x) {
      nodes_[parent].left = y;
    } else {
      nodes_[parent].right = y;
    }
    nodes_[y].*inner = x;
    nodes_[x].parent = y;
    nodes_[y].size = nodes_[x].size;
    nodes_[x].size = nodes_[nodes_[x].left].size + nodes_[nodes_[x].right].size + nodes_[x].own;
  }

  std::vector<Node>& nodes_;
  Link root_ = kNil;
};

}  // namespace kernelrank
