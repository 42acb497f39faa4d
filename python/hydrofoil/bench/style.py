"""The style of reports: light and dark, on a screen and on paper."""

from __future__ import annotations

CSS = """
:root{--bg:#f6f7f9;--card:#fff;--ink:#1b2430;--soft:#5d6b7c;--line:#dfe4ea;--good:#1a7f4b;--bad:#c02c38;--warn:#9a6700;
--c0:#2563eb;--c1:#e2711d;--c2:#12866f;--c3:#8b5cf6;--c4:#c2377e;--c5:#64748b;color-scheme:light dark}
@media(prefers-color-scheme:dark){:root{--bg:#10151c;--card:#19212b;--ink:#e6ebf1;--soft:#93a1b1;--line:#2c3744;
--good:#4cc38a;--bad:#ff7b84;--warn:#e3b341;--c0:#6ea8fe;--c1:#f6a35c;--c2:#4fd1b5;--c3:#b79bff;--c4:#f28bc0;--c5:#9fb0c3}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:1180px;margin:0 auto;padding:28px 20px 60px}
h1{font-size:26px;margin:0 0 4px;letter-spacing:-.01em}
h2{font-size:19px;margin:34px 0 12px}
h3{font-size:16px;margin:0;font-weight:650}
p{margin:0 0 8px}
.sub,small,.mark,.facts dt{color:var(--soft)}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(245px,1fr));gap:10px;margin:18px 0 0;padding:0}
.facts div,.card{background:var(--card);border:1px solid var(--line);border-radius:10px}
.facts div{padding:9px 13px;min-width:0}
.facts dt{font-size:12px}
.facts dd{margin:0;overflow-wrap:anywhere;font-weight:550}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:14px}
th,td{padding:7px 12px;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th{font-weight:600;color:var(--soft);font-size:12.5px}
tr:last-child td{border-bottom:0}
th:first-child,td:first-child{text-align:left}
td.text{text-align:left;white-space:normal}
.card{margin:0 0 16px;padding:16px 18px;break-inside:avoid}
.table{padding:4px 6px}
.head{display:flex;flex-wrap:wrap;gap:4px 14px;align-items:baseline;margin-bottom:10px}
.big{font-size:22px;font-weight:680;font-variant-numeric:tabular-nums}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(250px,100%),1fr));gap:14px;margin-top:6px}
.bars{grid-template-columns:repeat(auto-fit,minmax(min(190px,100%),1fr))}
figure{margin:0;min-width:0}
figcaption{font-size:13px;font-weight:600;display:flex;flex-wrap:wrap;gap:2px 8px;align-items:baseline}
figcaption small{font-weight:400}
svg{width:100%;height:auto;display:block}
.grid{stroke:var(--line);stroke-width:1}
.mark{fill:var(--soft);font-size:10px}
.value{fill:var(--ink);font-size:11px;font-weight:600}
.line{fill:none;stroke-width:1.8;stroke-linejoin:round;stroke-linecap:round}
.area{opacity:.13;stroke:none}
.key{font-weight:400;font-size:12px;color:var(--soft)}
.key::before{content:"";display:inline-block;width:9px;height:9px;border-radius:2px;margin-right:4px}
.proof{margin:10px 0 0;padding:0;list-style:none;font-size:13.5px;color:var(--soft)}
.proof li::before{content:"\\2713";color:var(--good);font-weight:700;margin-right:7px}
.wrong{color:var(--bad);font-weight:600;overflow-wrap:anywhere}
.better{color:var(--good)}.worse{color:var(--bad)}.alike{color:var(--soft)}
.notes{border-left:3px solid var(--warn);padding:2px 0 2px 12px;margin:16px 0 0}
.notes p{margin:2px 0}
.ok{color:var(--good);font-weight:600}
@media print{body{background:#fff}main{padding:0}}
@media(max-width:520px){main{padding:18px 12px 40px}.card{padding:13px}}
"""

CSS += "".join(
    f".line.c{n}{{stroke:var(--c{n})}}.dot.c{n},.bar.c{n},.area.c{n}{{fill:var(--c{n})}}.k{n}::before{{background:var(--c{n})}}"
    for n in range(6)
)
