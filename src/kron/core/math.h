#pragma once

namespace kron::math {

// The few functions a distribution needs, made of + - * / and square roots of IEEE doubles only, so that a decision is
// the same bits on every machine and with every C library. Errors stay below 1 ulp for exp … pow, 4 ulp for the normal
// functions; NaN gives NaN.

double exp(double x);
double expm1(double x);          // e^x - 1, also accurate near 0
double log(double x);            // x > 0; 0 gives -infinity, a negative x NaN
double log1p(double x);          // ln(1 + x), also accurate near 0; x ≥ -1
double pow(double x, double y);  // x in [0, 1], y > 0

// The standard normal distribution Φ. The centred forms are Φ − ½ and its inverse: near the middle they keep the digits
// that ½ + tiny would lose, as normal_cdf and normal_quantile do in the lower tail.
double normal_cdf(double z);
double normal_quantile(double p);  // p in [0, 1]; 0 gives -infinity, 1 infinity
double normal_centred(double z);
double normal_centred_quantile(double q);  // q in [-½, ½]

}  // namespace kron::math
