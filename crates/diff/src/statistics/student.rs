//! Student's t distribution: its tails, and where they begin.
//!
//! By the incomplete beta function: Abramowitz, Stegun: Handbook of Mathematical Functions, 26.7.1 and 26.5.8, its
//! continued fraction by Lentz's method (Thompson, Barnett, J. Comput. Phys. 64, 1986).

/// The probability to be further from 0 than `t`, on both sides.
pub(crate) fn two_sided(t: f64, degrees: f64) -> f64 {
    match t.is_finite() && degrees > 0.0 {
        true => incomplete_beta(degrees / 2.0, 0.5, degrees / (degrees + t * t)),
        false if t.is_infinite() => 0.0,
        false => 1.0,
    }
}

/// The value beyond which both sides together have this probability: by false position, with halved weights of an end
/// that stays (Dowell, Jarratt, BIT 11, 1971).
pub(crate) fn critical(probability: f64, degrees: f64) -> f64 {
    // Logarithms are nearly straight.
    let beyond = |t: f64| (two_sided(t, degrees) / probability).ln();
    let (mut low, mut high) = (0.0, 1.0);
    while two_sided(high, degrees) > probability && high < 1e12 {
        (low, high) = (high, high * 2.0);
    }
    let (mut at_low, mut at_high) = (beyond(low), beyond(high));
    let mut stayed = Stayed::Neither;
    for _ in 0..100 {
        let middle = (low * at_high - high * at_low) / (at_high - at_low);
        let value = beyond(middle);
        if !middle.is_finite() || value.abs() < 1e-12 || high - low < 1e-12 * high {
            return middle;
        }
        if value > 0.0 {
            (low, at_low) = (middle, value);
            at_high *= if stayed == Stayed::High { 0.5 } else { 1.0 };
            stayed = Stayed::High;
        } else {
            (high, at_high) = (middle, value);
            at_low *= if stayed == Stayed::Low { 0.5 } else { 1.0 };
            stayed = Stayed::Low;
        }
    }
    f64::midpoint(low, high)
}

/// Which end was the same in the step before.
#[derive(PartialEq)]
enum Stayed {
    Neither,
    Low,
    High,
}

/// Lanczos: J. SIAM Numer. Anal. Ser. B 1, 1964; with g = 5.
fn ln_gamma(x: f64) -> f64 {
    const FACTORS: [f64; 6] = [
        76.180_091_729_471_46,
        -86.505_320_329_416_77,
        24.014_098_240_830_91,
        -1.231_739_572_450_155,
        0.001_208_650_973_866_179,
        -0.000_005_395_239_384_953,
    ];
    let mut at = x;
    let sum = FACTORS.iter().fold(1.000_000_000_190_015, |sum, factor| {
        at += 1.0;
        sum + factor / at
    });
    let base = x + 5.5;
    (x + 0.5) * base.ln() - base + (2.506_628_274_631_000_5 * sum / x).ln()
}

fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p();
    if x < (a + 1.0) / (a + b + 2.0) {
        front.exp() * fraction(a, b, x) / a
    } else {
        1.0 - front.exp() * fraction(b, a, 1.0 - x) / b
    }
}

fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for step in 1..500 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut factor = 1.0;
        for term in [even, odd] {
            d = 1.0 / away(1.0 + term * d);
            c = away(1.0 + term / c);
            factor = d * c;
            value *= factor;
        }
        if (factor - 1.0).abs() < 1e-14 {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::{critical, two_sided};

    #[test]
    fn critical_values_are_those_of_tables() {
        for (probability, degrees, value) in [
            (0.05, 1.0, 12.706),
            (0.05, 4.0, 2.776),
            (0.05, 18.0, 2.101),
            (0.01, 8.0, 3.355),
            (0.001, 10.0, 4.587),
            (0.05, 1e6, 1.960),
        ] {
            let found = critical(probability, degrees);
            assert!((found - value).abs() < 0.001, "{found} {value}");
            assert!((two_sided(found, degrees) - probability).abs() < 1e-9);
        }
        for degrees in [1.0, 1.5, 3.0, 31.0, 1e5] {
            for exponent in 1..11 {
                let probability = 0.1_f64.powi(exponent);
                let found = two_sided(critical(probability, degrees), degrees);
                assert!(
                    (found / probability - 1.0).abs() < 1e-6,
                    "{degrees} {probability}: {found}"
                );
            }
        }
    }

    #[test]
    fn tails_end_at_the_ends() {
        assert!((two_sided(0.0, 3.0) - 1.0).abs() < 1e-12);
        assert!(two_sided(f64::INFINITY, 3.0) < 1e-300);
        assert!((two_sided(f64::NAN, 3.0) - 1.0).abs() < 1e-12);
        assert!(two_sided(40.0, 1e6) < 1e-200);
    }
}
