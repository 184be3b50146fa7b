//! Statements that insert many rows, with few distinct statement texts.

use sea_orm::DbBackend;

/// The text of an `INSERT` of `rows` rows with `width` columns each; rows that already exist are left unchanged.
pub(super) fn insert_text(
    backend: DbBackend,
    table: &str,
    columns: &str,
    rows: usize,
    width: usize,
) -> String {
    let mut text = format!("INSERT INTO {table} ({columns}) VALUES ");
    let mut bind = 0;
    for row in 0..rows {
        text.push_str(if row == 0 { "(" } else { ",(" });
        for column in 0..width {
            if column > 0 {
                text.push(',');
            }
            bind += 1;
            match backend {
                DbBackend::Postgres => text.push_str(&format!("${bind}")),
                _ => text.push('?'),
            }
        }
        text.push(')');
    }
    text.push_str(" ON CONFLICT DO NOTHING");
    text
}

/// Splits rows into chunks whose sizes are powers of two up to `most`, largest first. This gives few statements per batch,
/// because each is a round trip between threads, and few distinct texts per table, so that each is prepared only once.
pub(super) fn chunks<T>(mut rows: &[T], most: usize) -> impl Iterator<Item = &[T]> {
    std::iter::from_fn(move || {
        let size = 1 << rows.len().min(most).checked_ilog2()?;
        let (chunk, rest) = rows.split_at(size);
        rows = rest;
        Some(chunk)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_in_exactly_one_chunk() {
        let rows: Vec<u32> = (0..2_187).collect();
        let sizes: Vec<usize> = chunks(&rows, 1_024).map(<[u32]>::len).collect();
        assert_eq!(sizes, [1_024, 1_024, 128, 8, 2, 1]);
        assert_eq!(chunks(&rows, 1_024).flatten().copied().collect::<Vec<_>>(), rows);
        assert_eq!(chunks::<u32>(&[], 1_024).count(), 0);
    }

    #[test]
    fn both_databases_get_their_own_placeholders() {
        let text = |backend| insert_text(backend, "t", "a, b", 2, 2);
        assert_eq!(text(DbBackend::Sqlite), "INSERT INTO t (a, b) VALUES (?,?),(?,?) ON CONFLICT DO NOTHING");
        assert_eq!(
            text(DbBackend::Postgres),
            "INSERT INTO t (a, b) VALUES ($1,$2),($3,$4) ON CONFLICT DO NOTHING"
        );
    }
}
