# Every recipe is one line that can be typed by hand.

# List the recipes.
default:
    @just --list --unsorted

# Start the server on embedded defaults.
serve *arguments:
    cargo run -- serve {{ arguments }}

# Format every file.
fmt:
    cargo fmt --all

# What clippy says, warnings as errors.
lint:
    cargo clippy --workspace --all-targets -- -D warnings

# The documentation of our own crates, warnings as errors.
doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# Every test.
test:
    cargo test --workspace

# The long form of the reliability tests, figures printed: docs/reliability.md.
endure *arguments:
    WATCHKEEPER_ENDURE=1 cargo test --release --test reliability --test starvation --test engine --test probe --test cluster -- --nocapture --test-threads=1 {{ arguments }}

# The rules of the house alone: floors, places of crates, names.
tidy:
    cargo test --test tidy

# Measure with criterion.
bench *arguments:
    cargo bench --benches -- {{ arguments }}

# Run each bench once, without measuring.
bench-smoke:
    cargo test --workspace --benches

# Licences, bans, sources and duplicate versions of the dependencies, and those that nothing uses.
dependencies:
    tests/dependencies/run

# Everything that continuous integration runs.
ci:
    .ci/run
