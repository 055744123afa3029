#pragma once

namespace kron::testing {

// KRON_TEST_SCALE (default 1): `make test` leaves it alone, `make soak` raises it. A repetition count in a test is
// `scaled(n)`, so that one variable decides how long the whole suite takes.
int scaled(int count);

}  // namespace kron::testing
