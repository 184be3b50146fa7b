//! Numbers as written in JSON, compared exactly: 9007199254740993 is not 9007199254740992, 1.0 is 1.

use std::cmp::Ordering;

/// A number of any length. Nothing is computed: it is compared digit by digit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decimal<'a> {
    is_negative: bool,
    /// The digits before and after the point.
    digits: (&'a [u8], &'a [u8]),
    /// The position of the first non-zero digit, counted from the point; `None` for zero.
    magnitude: Option<i64>,
}

impl<'a> Decimal<'a> {
    /// Parses a number in the form of RFC 8259, section 6.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let is_negative = text.starts_with('-');
        let unsigned = text.trim_start_matches('-');
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !is_number(whole) || !is_number(fraction) {
            return None;
        }
        let digits = (whole.as_bytes(), fraction.as_bytes());
        let zeros = digits.0.iter().chain(digits.1).take_while(|digit| **digit == b'0').count();
        let is_zero = zeros == whole.len() + fraction.len();
        let count = |digits: usize| i64::try_from(digits).ok();
        let magnitude = count(whole.len())? - count(zeros)?;
        let magnitude = (!is_zero).then(|| magnitude.saturating_add(power(exponent)));
        Some(Self { is_negative, digits, magnitude })
    }

    /// Compares two numbers by their value.
    pub(super) fn compare(self, other: Self) -> Ordering {
        match (self.signum(), other.signum()) {
            (own, others) if own != others => own.cmp(&others),
            (1, _) => self.compare_size(other),
            (-1, _) => other.compare_size(self),
            _ => Ordering::Equal,
        }
    }

    const fn signum(self) -> i8 {
        match self.magnitude {
            None => 0,
            Some(_) if self.is_negative => -1,
            Some(_) => 1,
        }
    }

    fn compare_size(self, other: Self) -> Ordering {
        self.magnitude.cmp(&other.magnitude).then_with(|| {
            let (mut own, mut others) = (self.significant(), other.significant());
            loop {
                match (own.next(), others.next()) {
                    (None, None) => return Ordering::Equal,
                    (own, others) => match own.unwrap_or(b'0').cmp(&others.unwrap_or(b'0')) {
                        Ordering::Equal => {}
                        order => return order,
                    },
                }
            }
        })
    }

    fn significant(self) -> impl Iterator<Item = u8> {
        self.digits.0.iter().chain(self.digits.1).copied().skip_while(|digit| *digit == b'0')
    }
}

/// Parses an exponent. One that is out of range saturates.
fn power(text: &str) -> i64 {
    let bound = if text.starts_with('-') { i64::MIN / 2 } else { i64::MAX / 2 };
    text.trim_start_matches('+').parse().unwrap_or(bound).clamp(i64::MIN / 2, i64::MAX / 2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert_eq, proptest};
    use rstest::rstest;

    use super::*;

    fn compare(one: &str, other: &str) -> Ordering {
        Decimal::parse(one).unwrap().compare(Decimal::parse(other).unwrap())
    }

    #[rstest]
    #[case("1", "1.0", Ordering::Equal)]
    #[case("1", "1e0", Ordering::Equal)]
    #[case("100", "1E+2", Ordering::Equal)]
    #[case("0.001", "1e-3", Ordering::Equal)]
    #[case("-0", "0.00e7", Ordering::Equal)]
    #[case("9007199254740993", "9007199254740992", Ordering::Greater)]
    #[case("18446744073709548794", "1", Ordering::Greater)]
    #[case("1e400", "17976931348623157e300", Ordering::Greater)]
    #[case("1e-400", "0", Ordering::Greater)]
    #[case("-1e-400", "0", Ordering::Less)]
    #[case("-2", "-1", Ordering::Less)]
    #[case("-1", "1", Ordering::Less)]
    #[case("0.1", "0.10000000000000000000001", Ordering::Less)]
    #[case("1e99999999999999999999", "1e9", Ordering::Greater)]
    #[case("1e-99999999999999999999", "1e-9", Ordering::Less)]
    fn numbers_are_compared_by_their_value(
        #[case] one: &str,
        #[case] other: &str,
        #[case] expected: Ordering,
    ) {
        assert_eq!(compare(one, other), expected);
        assert_eq!(compare(other, one), expected.reverse());
    }

    proptest! {
        #[test]
        fn whole_numbers_are_compared_as_the_machine_does(one in any::<i64>(), other in any::<i64>(), zeros in 0..9_usize) {
            let written = format!("{other}.{}", "0".repeat(zeros + 1));
            prop_assert_eq!(compare(&one.to_string(), &written), one.cmp(&other));
            prop_assert_eq!(compare(&one.to_string(), &format!("{one}e0")), Ordering::Equal);
        }
    }
}
