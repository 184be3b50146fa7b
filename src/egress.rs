//! The one gate for every outbound connection: resolve, classify, pin, connect.
