module hydrofoil.dev/hydrofoil

go 1.22
