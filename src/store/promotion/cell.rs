//! One value of a row, read from either database: it is checked, hashed, and written in PostgreSQL's binary copy format.
//!
//! Values of both databases become the same type, so that the same code compares them.

use sea_orm::sqlx;
use sea_orm::sqlx::postgres::PgRow;
use sea_orm::sqlx::sqlite::SqliteRow;
use sea_orm::sqlx::{Row as _, TypeInfo as _, ValueRef as _};
use sha2::{Digest as _, Sha256};

use super::tables::ColumnKind;
use crate::store::binary_rows::BinaryValue as _;

/// A value of a column. A boolean is the number 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellValue<'r> {
    Null,
    Number(i64),
    Text(&'r str),
    Bytes(&'r [u8]),
}

/// The reason why a value cannot be promoted.
#[derive(Debug)]
pub(super) enum UnfitValue {
    /// The driver cannot read the value.
    Unreadable(sqlx::Error),
    /// PostgreSQL would not accept the value; the text says why.
    NotAllowed(String),
}

impl From<sqlx::Error> for UnfitValue {
    fn from(error: sqlx::Error) -> Self {
        Self::Unreadable(error)
    }
}

/// A row of one of the two databases.
pub(super) trait CellRow {
    /// The value of the column with this index, which must be of this kind.
    ///
    /// # Errors
    ///
    /// When the value is of another kind.
    fn cell(&self, index: usize, kind: ColumnKind) -> Result<CellValue<'_>, UnfitValue>;
}

impl CellRow for SqliteRow {
    /// A column of SQLite may contain values of any type, so the type of the value itself is checked.
    fn cell(&self, index: usize, kind: ColumnKind) -> Result<CellValue<'_>, UnfitValue> {
        let value = self.try_get_raw(index)?;
        if value.is_null() {
            return Ok(CellValue::Null);
        }
        let found = value.type_info().name().to_owned();
        drop(value);
        let cell = match (kind, found.as_str()) {
            (ColumnKind::Text, "TEXT") => CellValue::Text(self.try_get_unchecked(index)?),
            (ColumnKind::Bytes, "BLOB") => CellValue::Bytes(self.try_get_unchecked(index)?),
            (ColumnKind::Text | ColumnKind::Bytes, _) => {
                return Err(UnfitValue::NotAllowed(format!("is {found}")));
            }
            (_, "INTEGER") => CellValue::Number(self.try_get_unchecked(index)?),
            _ => return Err(UnfitValue::NotAllowed(format!("is {found}"))),
        };
        cell.check(kind)?;
        Ok(cell)
    }
}

impl CellRow for PgRow {
    fn cell(&self, index: usize, kind: ColumnKind) -> Result<CellValue<'_>, UnfitValue> {
        let cell = match kind {
            ColumnKind::SmallInteger => {
                self.try_get::<Option<i16>, _>(index)?.map(|n| CellValue::Number(n.into()))
            }
            ColumnKind::Integer => {
                self.try_get::<Option<i32>, _>(index)?.map(|n| CellValue::Number(n.into()))
            }
            ColumnKind::BigInteger => self.try_get::<Option<i64>, _>(index)?.map(CellValue::Number),
            ColumnKind::Boolean => {
                self.try_get::<Option<bool>, _>(index)?.map(|is| CellValue::Number(is.into()))
            }
            ColumnKind::Text => self.try_get::<Option<&str>, _>(index)?.map(CellValue::Text),
            ColumnKind::Bytes => self.try_get::<Option<&[u8]>, _>(index)?.map(CellValue::Bytes),
        };
        Ok(cell.unwrap_or(CellValue::Null))
    }
}

impl CellValue<'_> {
    /// Fails if PostgreSQL would not accept the value in a column of this kind.
    fn check(&self, kind: ColumnKind) -> Result<(), UnfitValue> {
        let is_fit = match (self, kind) {
            (Self::Number(n), ColumnKind::SmallInteger) => i16::try_from(*n).is_ok(),
            (Self::Number(n), ColumnKind::Integer) => i32::try_from(*n).is_ok(),
            (Self::Number(n), ColumnKind::Boolean) => matches!(n, 0 | 1),
            (Self::Text(text), _) => !text.contains('\0'),
            _ => true,
        };
        if is_fit {
            return Ok(());
        }
        Err(UnfitValue::NotAllowed(match self {
            Self::Number(n) => format!("is {n}, which is out of range"),
            _ => "contains the character 0, which PostgreSQL does not take".into(),
        }))
    }

    /// Adds the value to a checksum together with its type and length, so that different rows never produce the same
    /// input.
    pub(super) fn digest(&self, sum: &mut Sha256) {
        match self {
            Self::Null => sum.update([0]),
            Self::Number(n) => {
                sum.update([1]);
                sum.update(n.to_be_bytes());
            }
            Self::Text(text) => digest_bytes(sum, 2, text.as_bytes()),
            Self::Bytes(bytes) => digest_bytes(sum, 3, bytes),
        }
    }

    /// Appends the value as a field of PostgreSQL's binary copy format.
    ///
    /// # Errors
    ///
    /// When the value does not fit the kind of its column.
    pub(super) fn write(&self, kind: ColumnKind, to: &mut Vec<u8>) -> Result<(), UnfitValue> {
        let out_of_range = |_| UnfitValue::NotAllowed("is out of range".into());
        match (self, kind) {
            (Self::Null, _) => None::<i64>.write(to),
            (Self::Number(n), ColumnKind::SmallInteger) => i16::try_from(*n).map_err(out_of_range)?.write(to),
            (Self::Number(n), ColumnKind::Integer) => i32::try_from(*n).map_err(out_of_range)?.write(to),
            (Self::Number(n), ColumnKind::Boolean) => (*n != 0).write(to),
            (Self::Number(n), _) => n.write(to),
            (Self::Text(text), _) => text.write(to),
            (Self::Bytes(bytes), _) => bytes.write(to),
        }
        Ok(())
    }
}

fn digest_bytes(sum: &mut Sha256, tag: u8, bytes: &[u8]) {
    sum.update([tag]);
    sum.update((bytes.len() as u64).to_be_bytes());
    sum.update(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(cells: &[CellValue<'_>]) -> Vec<u8> {
        let mut sum = Sha256::new();
        cells.iter().for_each(|cell| cell.digest(&mut sum));
        sum.finalize().to_vec()
    }

    #[test]
    fn rows_that_differ_have_other_checksums() {
        let rows: [&[CellValue<'_>]; 6] = [
            &[CellValue::Text("ab"), CellValue::Text("c")],
            &[CellValue::Text("a"), CellValue::Text("bc")],
            &[CellValue::Bytes(b"ab"), CellValue::Bytes(b"c")],
            &[CellValue::Null, CellValue::Text("")],
            &[CellValue::Text(""), CellValue::Null],
            &[CellValue::Number(0), CellValue::Null],
        ];
        for (index, row) in rows.iter().enumerate() {
            for other in &rows[..index] {
                assert_ne!(sum(row), sum(other), "{row:?} {other:?}");
            }
        }
    }

    #[test]
    fn fields_have_the_width_of_their_columns() {
        let written = |cell: CellValue<'_>, kind| {
            let mut to = Vec::new();
            cell.write(kind, &mut to).map(|()| to).map_err(|_| ())
        };
        assert_eq!(written(CellValue::Number(-2), ColumnKind::SmallInteger), Ok(vec![0, 0, 0, 2, 255, 254]));
        assert_eq!(written(CellValue::Number(1), ColumnKind::Boolean), Ok(vec![0, 0, 0, 1, 1]));
        assert_eq!(written(CellValue::Text("é"), ColumnKind::Text), Ok(vec![0, 0, 0, 2, 195, 169]));
        assert_eq!(written(CellValue::Null, ColumnKind::Text), Ok(vec![255; 4]));
        assert_eq!(written(CellValue::Number(40_000), ColumnKind::SmallInteger), Err(()));
    }

    #[test]
    fn values_that_postgresql_refuses_are_found() {
        assert!(CellValue::Text("a\0b").check(ColumnKind::Text).is_err());
        assert!(CellValue::Number(2).check(ColumnKind::Boolean).is_err());
        assert!(CellValue::Number(1 << 40).check(ColumnKind::Integer).is_err());
        assert!(CellValue::Number(1 << 40).check(ColumnKind::BigInteger).is_ok());
    }
}
