# Watchkeeper as an image: the engine (`serve`) and locations in other places (`probe`) are the same binary.
#
#   docker build -t watchkeeper .
#   docker run -p 8080:8080 -v watchkeeper:/var/lib/watchkeeper watchkeeper
#
# NOT RUN: there was no Docker where this was written. What it depends on was tried: the binary as a user without root and
# without capabilities, its settings from the environment, and the command of the health check with its exit codes.
#
# ICMP checks need ping sockets (net.ipv4.ping_group_range; Docker opens them in containers since 20.10), or --cap-add NET_RAW
# and --user 0.

FROM rust:1.95-bookworm AS build
WORKDIR /source
COPY . .
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/source/target \
    cargo build --profile dist --locked --bin watchkeeper \
    && cp target/dist/watchkeeper /watchkeeper \
    && strip /watchkeeper \
    && mkdir /data

# glibc, certificates of authorities, and a user without a name or a shell; no package manager.
FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /watchkeeper /usr/local/bin/watchkeeper
# A new volume gets its owner and mode from this folder.
COPY --from=build --chown=65532:65532 --chmod=700 /data /var/lib/watchkeeper
ENV WATCHKEEPER_DATA_DIR=/var/lib/watchkeeper \
    WATCHKEEPER_LISTEN=0.0.0.0:8080
VOLUME /var/lib/watchkeeper
EXPOSE 8080
USER 65532:65532
# The binary checks its own server: exit code 0 for up, 1 for down. A location serves nothing; disable the check there.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
    CMD ["/usr/local/bin/watchkeeper", "check", "http", "http://127.0.0.1:8080/healthz", "--timeout", "3"]
# SIGTERM ends it within 10 s.
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/watchkeeper"]
CMD ["serve"]
