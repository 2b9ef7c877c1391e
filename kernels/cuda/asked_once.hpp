// What each device is asked once, since an answer takes the host as long as a launch.
#pragma once

#include <atomic>

#include "kernels/cuda/cuda_common.hpp"

namespace devobj::cuda {

/// The answers of devices, a static object. Threads may ask at the same time.
template <class Answer>
class AskedOnce {
 public:
  /// That of this device: ask(keep), if it has not been kept. It is not if `keep` becomes false, as it should where an answer may come from an
  /// error, nor are those of devices from number 64 on.
  template <class Ask>
  Answer of(int device, const Ask& ask) {
    bool keep = device >= 0 && device < most;
    if (keep && known_[device].load(std::memory_order_acquire)) return answers_[device];
    const Answer answer = ask(keep);
    if (!keep) return answer;
    answers_[device] = answer;
    known_[device].store(true, std::memory_order_release);
    return answer;
  }

 private:
  static constexpr int most = 64;
  std::atomic<Answer> answers_[most] = {};
  std::atomic<bool> known_[most] = {};
};

/// Whether a kernel with variables in shared memory has been compiled for this device, which is a Hopper: for sm_90a only it has them. A
/// place for the answers.
class HopperKernel {
 public:
  template <class Kernel>
  bool usable(Kernel* kernel, int device) {
    return known_.of(device, [&](bool& keep) {
      DeviceScope scope(device);
      cudaFuncAttributes attributes{};
      int major = 0;
      if (cudaFuncGetAttributes(&attributes, kernel) == cudaSuccess &&
          cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess)
        return major == 9 && attributes.sharedSizeBytes > 0;
      cudaGetLastError();
      return keep = false;
    });
  }

 private:
  AskedOnce<bool> known_;
};

}  // namespace devobj::cuda
