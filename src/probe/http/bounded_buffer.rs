//! Buffers for untrusted bytes with a limit: neither the length nor the allocated memory exceeds it.

/// Appends as much of `piece` as fits into `max_bytes`. Reserves the memory explicitly, because a vector that
/// grows by itself may reserve twice as much.
pub(super) fn append(buffer: &mut Vec<u8>, piece: &[u8], max_bytes: usize) {
    let taken = &piece[..piece.len().min(max_bytes.saturating_sub(buffer.len()))];
    let needed = buffer.len() + taken.len();
    if needed > buffer.capacity() {
        let doubled = needed.max(buffer.capacity() * 2);
        // A late reallocation is the most expensive, because old and new memory exist at the same time: above a
        // quarter, all is reserved at once.
        let capacity = if doubled > max_bytes / 4 { max_bytes } else { doubled };
        buffer.reserve_exact(capacity - buffer.len());
    }
    buffer.extend_from_slice(taken);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_bytes_nor_memory_exceed_the_limit() {
        let mut buffer = Vec::new();
        for _ in 0..100 {
            append(&mut buffer, &[7; 777], 50_000);
            assert!(buffer.capacity() <= 50_000);
        }
        assert_eq!(buffer, [7; 50_000]);
        append(&mut buffer, b"more", 0);
        assert_eq!(buffer.len(), 50_000);
    }
}
