//! Every tunable and every limit.
