# The first stage builds the wheel, the second holds what serves.
FROM rust:1-slim-bookworm AS build
RUN apt-get update && apt-get install --yes --no-install-recommends python3 python3-venv python3-dev gcc && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY requirements requirements
RUN python3 -m venv /venv && /venv/bin/pip install --no-cache-dir --require-hashes -r requirements/dev.lock
COPY Cargo.toml Cargo.lock pyproject.toml README.md LICENSE ./
COPY rust rust
COPY python python
RUN /venv/bin/maturin build --release --locked --out /wheels --interpreter python3

FROM debian:bookworm-slim
RUN apt-get update && apt-get install --yes --no-install-recommends python3 python3-venv && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 hydrofoil && install --directory --owner hydrofoil --mode 0700 /var/lib/hydrofoil
COPY --from=build /wheels /wheels
RUN python3 -m venv /opt/hydrofoil && /opt/hydrofoil/bin/pip install --no-cache-dir /wheels/*.whl && rm -rf /wheels
USER 10001
EXPOSE 6443
# Certificates of the first start, and `admin.conf` with the admin's: keep it, and the next container has the same ones.
VOLUME /var/lib/hydrofoil
HEALTHCHECK --interval=5s --timeout=2s CMD ["/opt/hydrofoil/bin/python", "-c", "import ssl, urllib.request as u; u.urlopen('https://127.0.0.1:6443/readyz', timeout=1, context=ssl.create_default_context(cafile='/var/lib/hydrofoil/ca.crt'))"]
ENTRYPOINT ["/opt/hydrofoil/bin/hydrofoil"]
CMD ["serve", "--host", "0.0.0.0", "--port", "6443", "--cert-dir", "/var/lib/hydrofoil"]
