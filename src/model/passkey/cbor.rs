//! Reads CBOR (RFC 8949) as devices send it: integers, strings, arrays, maps and simple values of definite length.
//!
//! Refused are indefinite lengths, tags, floating-point numbers, duplicate keys, bytes after the end, and deep nesting. So
//! a document has one meaning, and memory is bounded by its length.

/// Maximum depth of nested arrays and maps; those of WebAuthn have four levels.
const DEPTH_MAX: usize = 8;
/// Maximum number of entries of a map; those of WebAuthn have a few. Each key is compared with all earlier ones.
const ENTRIES_MAX: usize = 32;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CborValue<'a> {
    Integer(i64),
    Bytes(&'a [u8]),
    Text(&'a str),
    Array(Vec<Self>),
    Map(Vec<CborEntry<'a>>),
    /// False, true, null or undefined.
    Simple(u8),
}

/// An entry of a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CborEntry<'a> {
    pub(super) key: CborValue<'a>,
    pub(super) value: CborValue<'a>,
}

impl<'a> CborValue<'a> {
    /// Parses a whole document.
    pub(super) fn parse(document: &'a [u8]) -> Option<Self> {
        let mut reader = CborReader { rest: document };
        let value = reader.value(DEPTH_MAX)?;
        reader.rest.is_empty().then_some(value)
    }

    /// Returns the length in bytes of the value at the start of `bytes`.
    pub(super) fn length_at_start(bytes: &[u8]) -> Option<usize> {
        let mut reader = CborReader { rest: bytes };
        reader.value(DEPTH_MAX)?;
        Some(bytes.len() - reader.rest.len())
    }

    /// Returns the value of a map at an integer.
    pub(super) fn at(&self, key: i64) -> Option<&Self> {
        self.find(&CborValue::Integer(key))
    }

    /// Returns the value of a map at a name.
    pub(super) fn named(&self, name: &str) -> Option<&Self> {
        self.find(&CborValue::Text(name))
    }

    fn find(&self, key: &CborValue<'_>) -> Option<&Self> {
        let Self::Map(entries) = self else { return None };
        entries.iter().find(|entry| entry.key == *key).map(|entry| &entry.value)
    }

    pub(super) const fn integer(&self) -> Option<i64> {
        if let Self::Integer(number) = self { Some(*number) } else { None }
    }

    pub(super) const fn bytes(&self) -> Option<&'a [u8]> {
        if let Self::Bytes(bytes) = self { Some(bytes) } else { None }
    }
}

/// Reads from the start of `rest`.
struct CborReader<'a> {
    rest: &'a [u8],
}

impl<'a> CborReader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    fn value(&mut self, depth: usize) -> Option<CborValue<'a>> {
        let first = *self.take(1)?.first()?;
        let (major, low) = (first >> 5, first & 0x1f);
        if major == 7 {
            return (20..=23).contains(&low).then_some(CborValue::Simple(low));
        }
        let argument = self.argument(low)?;
        let length = || usize::try_from(argument).ok();
        match major {
            0 => i64::try_from(argument).ok().map(CborValue::Integer),
            1 => i64::try_from(argument).ok().map(|number| CborValue::Integer(-1 - number)),
            2 => self.take(length()?).map(CborValue::Bytes),
            3 => std::str::from_utf8(self.take(length()?)?).ok().map(CborValue::Text),
            4 => self.array(length()?, depth.checked_sub(1)?),
            5 => self.map(length()?, depth.checked_sub(1)?),
            _ => None,
        }
    }

    /// Reads the number that follows the first byte of a value.
    fn argument(&mut self, low: u8) -> Option<u64> {
        let length = match low {
            0..=23 => return Some(low.into()),
            24..=27 => 1 << (low - 24),
            _ => return None,
        };
        Some(self.take(length)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn array(&mut self, length: usize, depth: usize) -> Option<CborValue<'a>> {
        let mut items = Vec::new();
        for _ in 0..length {
            items.push(self.value(depth)?);
        }
        Some(CborValue::Array(items))
    }

    fn map(&mut self, length: usize, depth: usize) -> Option<CborValue<'a>> {
        if length > ENTRIES_MAX {
            return None;
        }
        let mut entries: Vec<CborEntry<'a>> = Vec::new();
        for _ in 0..length {
            let key = self.value(depth)?;
            if entries.iter().any(|entry| entry.key == key) {
                return None;
            }
            entries.push(CborEntry { key, value: self.value(depth)? });
        }
        Some(CborValue::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
    }

    #[test]
    fn large_maps_are_refused() {
        let map = |count: u8| -> Vec<u8> {
            let entries = (0..count).flat_map(|key| [0x18, 100 + key, 0]);
            [0xb8, count].into_iter().chain(entries).collect()
        };
        assert!(CborValue::parse(&map(32)).is_some());
        assert_eq!(CborValue::parse(&map(33)), None);
    }

    /// Examples of RFC 8949, appendix A.
    #[rstest]
    #[case("00", CborValue::Integer(0))]
    #[case("17", CborValue::Integer(23))]
    #[case("1818", CborValue::Integer(24))]
    #[case("1903e8", CborValue::Integer(1_000))]
    #[case("1a000f4240", CborValue::Integer(1_000_000))]
    #[case("1b000000e8d4a51000", CborValue::Integer(1_000_000_000_000))]
    #[case("20", CborValue::Integer(-1))]
    #[case("3903e7", CborValue::Integer(-1_000))]
    #[case("f4", CborValue::Simple(20))]
    #[case("f5", CborValue::Simple(21))]
    #[case("f6", CborValue::Simple(22))]
    #[case("4401020304", CborValue::Bytes(&[1, 2, 3, 4]))]
    #[case("6449455446", CborValue::Text("IETF"))]
    #[case("62c3bc", CborValue::Text("ü"))]
    #[case("80", CborValue::Array(Vec::new()))]
    #[case("820102", CborValue::Array(vec![CborValue::Integer(1), CborValue::Integer(2)]))]
    fn values_are_read(#[case] hex: &str, #[case] expected: CborValue<'_>) {
        let document = bytes(hex);
        assert_eq!(CborValue::parse(&document), Some(expected));
        assert_eq!(CborValue::length_at_start(&[&document[..], &[0]].concat()), Some(document.len()));
    }

    #[test]
    fn entries_of_a_map_are_found() {
        let document = bytes("a3016161206162616303");
        let map = CborValue::parse(&document).unwrap();
        assert_eq!(map.at(1), Some(&CborValue::Text("a")));
        assert_eq!(map.at(-1), Some(&CborValue::Text("b")));
        assert_eq!(map.named("c").and_then(CborValue::integer), Some(3));
        assert_eq!((map.at(2), map.named("a")), (None, None));
    }

    #[rstest]
    #[case::empty("")]
    #[case::more("0000")]
    #[case::short_number("19ff")]
    #[case::short_bytes("440102")]
    #[case::huge_bytes("5bffffffffffffffff00")]
    #[case::huge_array("9bffffffffffffffff00")]
    #[case::large_number("1bffffffffffffffff")]
    #[case::indefinite_bytes("5f4101ff")]
    #[case::indefinite_array("9fff")]
    #[case::tag("c074323031332d30332d32315432303a30343a30305a")]
    #[case::half("f90000")]
    #[case::double("fb3ff199999999999a")]
    #[case::other_simple("f818")]
    #[case::no_utf_8("61ff")]
    #[case::duplicate("a201010102")]
    #[case::no_value("a101")]
    #[case::deep("818181818181818181")]
    #[case::reserved("1c")]
    fn other_documents_are_refused(#[case] hex: &str) {
        assert_eq!(CborValue::parse(&bytes(hex)), None);
    }
}
