// The functions of testing.hpp for the types that the tests have, once for all programs and optimised: references and
// comparisons are most of what some tests do.
#include "testing.hpp"

namespace devobj::test {

#define DEVOBJ_TESTING_HERE
DEVOBJ_TESTING(DEVOBJ_TESTING_HERE)

}  // namespace devobj::test
