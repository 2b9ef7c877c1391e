#include "qr_update_chains.hpp"

#include "devobj/matrix.hpp"
#include "qr_update_beside.hpp"

namespace devobj {

#ifdef DEVOBJ_HAVE_CUDA

namespace {

/// G with its memory.
template <class T> struct Chains {
  Chains(std::int64_t steps, std::int64_t p, Queue& q) : memory(rotation_chains_size(steps, rotation_chains_for(p)), 1, q) {
    G.rotations = memory.data;
  }
  Matrix<T> memory;
  RotationChains<T> G;
};

}  // namespace

template <class T>
std::int64_t chains_at_once(std::int64_t p, std::int64_t most, std::int64_t block, const Queue& q) {
  return q.on_cuda() && p <= most && block == 0 ? cuda::rotation_chains_most<T>(q) : 0;
}

template <class T> void chain_down(View<T> H, std::int64_t p, View<T> Q, View<T> D, Queue& q) {
  Chains<T> chains(std::min(H.cols, H.rows - 1), p, q);
  cuda::make_chains_down(H, p, chains.G, q);                  // H = G^H H
  cuda::apply_chains(Side::Right, chains.G, Q, false, q);     // Q = Q G
  cuda::apply_chains(Side::Left, chains.G, D, false, q);      // D = G^H D
}

template <class T>
void chain_up(View<T> W, View<T> more, View<T> R, View<T> Q, View<T> D, std::int64_t steps, Queue& q) {
  Chains<T> chains(steps, W.cols, q);
  Beside beside(q, !Q.empty());
  cuda::make_chains_up(W, steps, chains.G, q);                           // W = G^H W
  beside.after_main();
  cuda::apply_chains(Side::Right, chains.G, Q, false, beside.queue());   // Q = Q G
  cuda::apply_chains(Side::Left, chains.G, R, true, q);                  // R = G^H R
  cuda::apply_chains(Side::Left, chains.G, more, false, q);
  cuda::apply_chains(Side::Left, chains.G, D, false, q);
}

#else

template <class T> std::int64_t chains_at_once(std::int64_t, std::int64_t, std::int64_t, const Queue&) { return 0; }
template <class T> void chain_down(View<T>, std::int64_t, View<T>, View<T>, Queue&) {}
template <class T> void chain_up(View<T>, View<T>, View<T>, View<T>, View<T>, std::int64_t, Queue&) {}

#endif

#define INSTANTIATE(T)                                                                                       \
  template std::int64_t chains_at_once<T>(std::int64_t, std::int64_t, std::int64_t, const Queue&);           \
  template void chain_down<T>(View<T>, std::int64_t, View<T>, View<T>, Queue&);                              \
  template void chain_up<T>(View<T>, View<T>, View<T>, View<T>, View<T>, std::int64_t, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
