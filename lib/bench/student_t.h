// Student's t distribution, for the intervals and tests of small samples.
#pragma once

namespace pterun::bench {

// P(T <= t) with `degrees` > 0 degrees of freedom (need not be whole). By the regularised incomplete beta function,
// Lentz's continued fraction: Numerical Recipes, 6.4. Accurate to about 1e-12.
double student_t_cdf(double t, double degrees);

// The t with student_t_cdf(t) == probability, for 0 < probability < 1.
double student_t_quantile(double probability, double degrees);

}  // namespace pterun::bench
