#include <cuda_runtime_api.h>
#include <curand.h>

#include <memory>

#include "cuda_side.hpp"
#include "raw_rng.hpp"

namespace bench {
namespace {

void check_curand(curandStatus_t status, const char* call) {
  if (status != CURAND_STATUS_SUCCESS)
    devobj::fail(devobj::Status::device_error, call, ": curandStatus_t ", static_cast<int>(status));
}

Fill curand_fill(std::shared_ptr<curandGenerator_st> g, const std::string& routine, char type, void* out,
                 std::int64_t count) {
  const auto n = static_cast<std::size_t>(count);
  auto* s = static_cast<float*>(out);
  auto* d = static_cast<double*>(out);
  auto* u = static_cast<unsigned int*>(out);
  curandGenerator_t h = g.get();
  if (routine == "words" && type == 'i')
    return [=] {
      (void)g;
      check_curand(curandGenerate(h, u, n), "curandGenerate");
    };
  if (routine == "poisson" && type == 'i')
    return [=] {
      (void)g;
      check_curand(curandGeneratePoisson(h, u, n, 20), "curandGeneratePoisson");
    };
  if (routine == "uniform" && type == 's')
    return [=] {
      (void)g;
      check_curand(curandGenerateUniform(h, s, n), "curandGenerateUniform");
    };
  if (routine == "uniform" && type == 'd')
    return [=] {
      (void)g;
      check_curand(curandGenerateUniformDouble(h, d, n), "curandGenerateUniformDouble");
    };
  if (routine == "normal" && type == 's')
    return [=] {
      (void)g;
      check_curand(curandGenerateNormal(h, s, n, 0, 1), "curandGenerateNormal");
    };
  if (routine == "normal" && type == 'd')
    return [=] {
      (void)g;
      check_curand(curandGenerateNormalDouble(h, d, n, 0, 1), "curandGenerateNormalDouble");
    };
  if (routine == "lognormal" && type == 's')
    return [=] {
      (void)g;
      check_curand(curandGenerateLogNormal(h, s, n, 0, 1), "curandGenerateLogNormal");
    };
  if (routine == "lognormal" && type == 'd')
    return [=] {
      (void)g;
      check_curand(curandGenerateLogNormalDouble(h, d, n, 0, 1), "curandGenerateLogNormalDouble");
    };
  return {};
}

}  // namespace

std::vector<RngPeer> curand_peers(devobj::Queue& q) {
  std::vector<RngPeer> peers;
  const auto stream = static_cast<cudaStream_t>(q.stream());
  peers.push_back({"cudaMemset", [stream](const std::string&, char type, void* out, std::int64_t count) -> Fill {
                     const std::size_t bytes = static_cast<std::size_t>(count) * (type == 'd' ? 8 : 4);
                     return [=] { cuda::check_runtime(cudaMemsetAsync(out, 0x3e, bytes, stream), "cudaMemsetAsync"); };
                   }});
  const std::pair<const char*, curandRngType_t> types[] = {{"curand xorwow", CURAND_RNG_PSEUDO_XORWOW},
                                                           {"curand mrg32k3a", CURAND_RNG_PSEUDO_MRG32K3A},
                                                           {"curand mtgp32", CURAND_RNG_PSEUDO_MTGP32},
                                                           {"curand mt19937", CURAND_RNG_PSEUDO_MT19937},
                                                           {"curand philox", CURAND_RNG_PSEUDO_PHILOX4_32_10}};
  for (const auto& entry : types) {
    curandGenerator_t h = nullptr;
    check_curand(curandCreateGenerator(&h, entry.second), "curandCreateGenerator");
    std::shared_ptr<curandGenerator_st> g(h, [](curandGenerator_t p) { curandDestroyGenerator(p); });
    check_curand(curandSetStream(h, stream), "curandSetStream");
    check_curand(curandSetPseudoRandomGeneratorSeed(h, 1), "curandSetPseudoRandomGeneratorSeed");
    peers.push_back({entry.first, [g](const std::string& routine, char type, void* out, std::int64_t count) {
                       return curand_fill(g, routine, type, out, count);
                     }});
  }
  return peers;
}

}  // namespace bench
