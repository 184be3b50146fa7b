//! Rows in the binary format of PostgreSQL's `COPY`, the fastest way to insert many rows.

/// Start of the data: signature, flags and an empty header extension.
pub(super) const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// End of the data, after the last row.
pub(super) const TRAILER: [u8; 2] = (-1_i16).to_be_bytes();
/// The length that encodes `NULL`.
const NULL: [u8; 4] = (-1_i32).to_be_bytes();

#[derive(Debug)]
pub(super) struct BinaryRows {
    bytes: Vec<u8>,
    width: i16,
    /// Number of columns that the last row still needs.
    lacking: i16,
}

/// A value that can be written in the binary format of PostgreSQL.
pub(super) trait BinaryValue {
    /// Appends the length of the value in bytes (`i32`), then the value.
    fn write(self, bytes: &mut Vec<u8>);
}

impl BinaryRows {
    /// Creates an empty buffer for rows of `width` columns.
    pub(super) fn new(width: i16) -> Self {
        Self { bytes: HEADER.to_vec(), width, lacking: 0 }
    }

    /// Starts a row. The caller then puts a value for each of its columns.
    pub(super) fn begin_row(&mut self) {
        debug_assert_eq!(self.lacking, 0, "columns that the row before lacks");
        self.lacking = self.width;
        self.bytes.extend(self.width.to_be_bytes());
    }

    /// Appends the value of the next column. Its Rust type must match the column's type: `i32` does not fit `bigint`.
    pub(super) fn put(&mut self, value: impl BinaryValue) {
        self.lacking -= 1;
        value.write(&mut self.bytes);
    }

    /// Appends the trailer after the last row.
    pub(super) fn end(&mut self) {
        debug_assert_eq!(self.lacking, 0, "columns that the last row lacks");
        self.bytes.extend(TRAILER);
    }

    /// Takes the bytes written since the last call, to be sent.
    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }
}

impl BinaryValue for i16 {
    fn write(self, bytes: &mut Vec<u8>) {
        self.to_be_bytes().as_slice().write(bytes);
    }
}

impl BinaryValue for i32 {
    fn write(self, bytes: &mut Vec<u8>) {
        self.to_be_bytes().as_slice().write(bytes);
    }
}

impl BinaryValue for i64 {
    fn write(self, bytes: &mut Vec<u8>) {
        self.to_be_bytes().as_slice().write(bytes);
    }
}

impl BinaryValue for bool {
    fn write(self, bytes: &mut Vec<u8>) {
        [u8::from(self)].as_slice().write(bytes);
    }
}

impl BinaryValue for &str {
    fn write(self, bytes: &mut Vec<u8>) {
        self.as_bytes().write(bytes);
    }
}

impl BinaryValue for &[u8] {
    fn write(self, bytes: &mut Vec<u8>) {
        // PostgreSQL itself accepts no value of a gigabyte or more.
        bytes.extend(i32::try_from(self.len()).unwrap_or(i32::MAX).to_be_bytes());
        bytes.extend(self);
    }
}

impl<V: BinaryValue> BinaryValue for Option<V> {
    fn write(self, bytes: &mut Vec<u8>) {
        match self {
            Some(value) => value.write(bytes),
            None => bytes.extend(NULL),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &[u8] = b"\0\x03\0\0\0\x02\xff\xfe\0\0\0\x08\0\0\0\0\0\0\0\x01\0\0\0\x02\xc3\xa9";

    #[test]
    fn rows_are_written_as_postgresql_reads_them() {
        let mut rows = BinaryRows::new(3);
        rows.begin_row();
        rows.put(-2_i16);
        rows.put(Some(1_i64));
        rows.put(Some("é"));
        let first = rows.take();
        assert_eq!(first.strip_prefix(HEADER).unwrap(), FIRST);
        rows.begin_row();
        rows.put(0_i16);
        rows.put(None::<i64>);
        rows.put(None::<&str>);
        rows.end();
        assert_eq!(rows.take(), b"\0\x03\0\0\0\x02\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff");
    }
}
