//! One value of a row, read from either database: checked, hashed, and written in the form that PostgreSQL reads.
//!
//! Both sides become the same cells, so that the same code compares them.

use sea_orm::sqlx;
use sea_orm::sqlx::postgres::PgRow;
use sea_orm::sqlx::sqlite::SqliteRow;
use sea_orm::sqlx::{Row as _, TypeInfo as _, ValueRef as _};
use sha2::{Digest as _, Sha256};

use super::tables::Kind;
use crate::store::binary_rows::BinaryValue as _;

/// A value. A boolean is 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell<'r> {
    /// Nothing.
    Null,
    /// A number.
    Number(i64),
    /// A text.
    Text(&'r str),
    /// Bytes.
    Bytes(&'r [u8]),
}

/// A value that cannot be promoted.
#[derive(Debug)]
pub(super) enum Unfit {
    /// The driver cannot read it.
    Unreadable(sqlx::Error),
    /// PostgreSQL would not take it.
    NotAllowed(String),
}

impl From<sqlx::Error> for Unfit {
    fn from(error: sqlx::Error) -> Self {
        Self::Unreadable(error)
    }
}

/// A row of one of the two databases.
pub(super) trait Cells {
    /// The value at this place.
    ///
    /// # Errors
    /// When it is not of this type.
    fn cell(&self, place: usize, kind: Kind) -> Result<Cell<'_>, Unfit>;
}

impl Cells for SqliteRow {
    /// A column of SQLite may hold values of any type, so the type is that of the value.
    fn cell(&self, place: usize, kind: Kind) -> Result<Cell<'_>, Unfit> {
        let value = self.try_get_raw(place)?;
        if value.is_null() {
            return Ok(Cell::Null);
        }
        let found = value.type_info().name().to_owned();
        drop(value);
        let cell = match (kind, found.as_str()) {
            (Kind::Text, "TEXT") => Cell::Text(self.try_get_unchecked(place)?),
            (Kind::Bytes, "BLOB") => Cell::Bytes(self.try_get_unchecked(place)?),
            (Kind::Text | Kind::Bytes, _) => {
                return Err(Unfit::NotAllowed(format!("is {found}")));
            }
            (_, "INTEGER") => Cell::Number(self.try_get_unchecked(place)?),
            _ => return Err(Unfit::NotAllowed(format!("is {found}"))),
        };
        cell.check(kind)?;
        Ok(cell)
    }
}

impl Cells for PgRow {
    fn cell(&self, place: usize, kind: Kind) -> Result<Cell<'_>, Unfit> {
        let cell = match kind {
            Kind::SmallInteger => self.try_get::<Option<i16>, _>(place)?.map(|n| Cell::Number(n.into())),
            Kind::Integer => self.try_get::<Option<i32>, _>(place)?.map(|n| Cell::Number(n.into())),
            Kind::BigInteger => self.try_get::<Option<i64>, _>(place)?.map(Cell::Number),
            Kind::Boolean => self.try_get::<Option<bool>, _>(place)?.map(|is| Cell::Number(is.into())),
            Kind::Text => self.try_get::<Option<&str>, _>(place)?.map(Cell::Text),
            Kind::Bytes => self.try_get::<Option<&[u8]>, _>(place)?.map(Cell::Bytes),
        };
        Ok(cell.unwrap_or(Cell::Null))
    }
}

impl Cell<'_> {
    /// Fails unless PostgreSQL accepts it in a column of this type.
    fn check(&self, kind: Kind) -> Result<(), Unfit> {
        let is_fit = match (self, kind) {
            (Self::Number(n), Kind::SmallInteger) => i16::try_from(*n).is_ok(),
            (Self::Number(n), Kind::Integer) => i32::try_from(*n).is_ok(),
            (Self::Number(n), Kind::Boolean) => matches!(n, 0 | 1),
            (Self::Text(text), _) => !text.contains('\0'),
            _ => true,
        };
        if is_fit {
            return Ok(());
        }
        Err(Unfit::NotAllowed(match self {
            Self::Number(n) => format!("is {n}, which is out of range"),
            _ => "contains the character 0, which PostgreSQL does not take".into(),
        }))
    }

    /// Adds it to a checksum, so that no two different rows have the same input: every value includes its type and
    /// length.
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

    /// Appends it as a field of PostgreSQL's binary copy format.
    ///
    /// # Errors
    /// When it does not fit the type of its column.
    pub(super) fn write(&self, kind: Kind, to: &mut Vec<u8>) -> Result<(), Unfit> {
        let out_of_range = |_| Unfit::NotAllowed("is out of range".into());
        match (self, kind) {
            (Self::Null, _) => None::<i64>.write(to),
            (Self::Number(n), Kind::SmallInteger) => i16::try_from(*n).map_err(out_of_range)?.write(to),
            (Self::Number(n), Kind::Integer) => i32::try_from(*n).map_err(out_of_range)?.write(to),
            (Self::Number(n), Kind::Boolean) => (*n != 0).write(to),
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

    fn sum(cells: &[Cell<'_>]) -> Vec<u8> {
        let mut sum = Sha256::new();
        cells.iter().for_each(|cell| cell.digest(&mut sum));
        sum.finalize().to_vec()
    }

    #[test]
    fn rows_that_differ_have_other_checksums() {
        let rows: [&[Cell<'_>]; 6] = [
            &[Cell::Text("ab"), Cell::Text("c")],
            &[Cell::Text("a"), Cell::Text("bc")],
            &[Cell::Bytes(b"ab"), Cell::Bytes(b"c")],
            &[Cell::Null, Cell::Text("")],
            &[Cell::Text(""), Cell::Null],
            &[Cell::Number(0), Cell::Null],
        ];
        for (place, row) in rows.iter().enumerate() {
            for other in &rows[..place] {
                assert_ne!(sum(row), sum(other), "{row:?} {other:?}");
            }
        }
    }

    #[test]
    fn fields_have_the_width_of_their_columns() {
        let written = |cell: Cell<'_>, kind| {
            let mut to = Vec::new();
            cell.write(kind, &mut to).map(|()| to).map_err(|_| ())
        };
        assert_eq!(written(Cell::Number(-2), Kind::SmallInteger), Ok(vec![0, 0, 0, 2, 255, 254]));
        assert_eq!(written(Cell::Number(1), Kind::Boolean), Ok(vec![0, 0, 0, 1, 1]));
        assert_eq!(written(Cell::Text("é"), Kind::Text), Ok(vec![0, 0, 0, 2, 195, 169]));
        assert_eq!(written(Cell::Null, Kind::Text), Ok(vec![255; 4]));
        assert_eq!(written(Cell::Number(40_000), Kind::SmallInteger), Err(()));
    }

    #[test]
    fn what_postgres_does_not_take_is_found() {
        assert!(Cell::Text("a\0b").check(Kind::Text).is_err());
        assert!(Cell::Number(2).check(Kind::Boolean).is_err());
        assert!(Cell::Number(1 << 40).check(Kind::Integer).is_err());
        assert!(Cell::Number(1 << 40).check(Kind::BigInteger).is_ok());
    }
}
