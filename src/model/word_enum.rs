//! Enums whose variants are words of the API and the database. Each word is derived from the name of its variant.
//!
//! `strum` derives the words. [`words`] adds the derives, and gives all these enums `ALL`, `WORDS` and `as_str`. A word
//! that is not the name in snake case is set at the variant: `#[strum(serialize = "…")]`.

/// Declares an enum whose variants are words.
macro_rules! words {
    ($(#[$about:meta])* pub enum $name:ident { $($values:tt)* }) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[derive(strum::Display, strum::EnumString, strum::VariantArray, strum::VariantNames)]
        #[strum(serialize_all = "snake_case")]
        $(#[$about])*
        pub enum $name { $($values)* }

        impl $name {
            /// All variants, in the order of their definition.
            pub const ALL: [Self; <Self as strum::VariantArray>::VARIANTS.len()] =
                $crate::model::word_enum::array(<Self as strum::VariantArray>::VARIANTS);

            /// The words of all variants, in the same order.
            pub const WORDS: &'static [&'static str] = <Self as strum::VariantNames>::VARIANTS;

            /// The word of this variant.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                let mut position = 0;
                while Self::ALL[position] as usize != self as usize {
                    position += 1;
                }
                Self::WORDS[position]
            }
        }
    };
}

pub(crate) use words;

/// Serialises such an enum as its word, for `#[serde(with = "spelled")]`.
pub(crate) mod spelled {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<T: Display, S: Serializer>(word: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(word)
    }

    pub(crate) fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        let word = String::deserialize(deserializer)?;
        word.parse().map_err(serde::de::Error::custom)
    }

    /// Serialises such an enum as its word if it is present.
    pub(crate) mod option {
        use std::fmt::Display;
        use std::str::FromStr;

        use serde::{Deserialize, Deserializer, Serializer};

        pub(crate) fn serialize<T: Display, S: Serializer>(
            word: &Option<T>,
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            match word {
                Some(word) => serializer.collect_str(word),
                None => serializer.serialize_none(),
            }
        }

        pub(crate) fn deserialize<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
        where
            T: FromStr<Err: Display>,
            D: Deserializer<'de>,
        {
            let word: Option<String> = Option::deserialize(deserializer)?;
            word.map(|word| word.parse().map_err(serde::de::Error::custom)).transpose()
        }
    }
}

/// Returns the first `N` elements of a slice as an array; the slice must not be shorter.
pub(crate) const fn array<T: Copy, const N: usize>(values: &[T]) -> [T; N] {
    match values.first_chunk() {
        Some(values) => *values,
        None => unreachable!(),
    }
}
