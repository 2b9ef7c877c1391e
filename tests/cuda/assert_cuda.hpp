// For the tests' own calls of the CUDA runtime.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#define ASSERT_CUDA(call) ASSERT_EQ((call), cudaSuccess)
