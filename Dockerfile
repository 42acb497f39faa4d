# An image of the server and of what it needs, without a shell or a package manager: `make image`, or `docker build .`.
# BASE is a Debian 12, of which Python and some libraries are taken.
ARG BASE=debian:bookworm-slim
# `dist` takes the wheel that is in the folder DIST, `build` makes one.
ARG WHEEL=build

FROM rust:1-slim-bookworm AS build
RUN apt-get update && apt-get install --yes --no-install-recommends python3 python3-venv gcc && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY requirements requirements
RUN python3 -m venv /venv && /venv/bin/pip install --no-cache-dir --no-deps --require-hashes -r requirements/release.lock
COPY Cargo.toml Cargo.lock rust-toolchain.toml pyproject.toml README.md LICENSE ./
COPY rust rust
COPY python python
RUN /venv/bin/maturin build --release --locked --strip --out /wheels --interpreter python3

FROM scratch AS dist
ARG DIST=dist
COPY ${DIST}/*.whl /wheels/

FROM ${WHEEL} AS wheel

FROM ${BASE} AS root
RUN command -v objcopy >/dev/null && python3 -c 'import ensurepip' 2>/dev/null || \
  { apt-get update && apt-get install --yes --no-install-recommends python3 python3-venv binutils ca-certificates media-types; }
ENV PIP_CERT=/etc/ssl/certs/ca-certificates.crt PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
RUN python3 -m venv --without-pip /opt/hydrofoil && python3 -m venv /tools
COPY requirements/serve.lock tools/image/rootfs /src/
COPY --from=wheel /wheels /wheels
RUN /tools/bin/python -m pip --python /opt/hydrofoil install --no-deps --require-hashes -r /src/serve.lock && \
  /tools/bin/python -m pip --python /opt/hydrofoil install --no-deps --no-index /wheels/hydrofoil-*.whl && sh /src/rootfs /rootfs

FROM scratch
COPY --from=root /rootfs /
USER 10001
EXPOSE 6443
# Certificates of the first start, and `admin.conf` with the admin's: keep it, and the next container has the same ones.
VOLUME /var/lib/hydrofoil
ENV PATH=/opt/hydrofoil/bin
HEALTHCHECK --interval=5s --timeout=2s CMD ["/opt/hydrofoil/bin/python", "-c", "import ssl, urllib.request as u; u.urlopen('https://127.0.0.1:6443/readyz', timeout=1, context=ssl.create_default_context(cafile='/var/lib/hydrofoil/ca.crt'))"]
ENTRYPOINT ["/opt/hydrofoil/bin/hydrofoil"]
CMD ["serve", "--host", "0.0.0.0", "--port", "6443", "--cert-dir", "/var/lib/hydrofoil"]
