/** How the report's page looks; no colour says anything that a word doesn't say too. */
export const style = `
:root{color-scheme:light dark;--page:#f4f6f8;--card:#fff;--ink:#14171c;--soft:#545d69;--line:#dde2e8;--good:#1b6e3c;--good-tint:#e5f4ea;--warn:#7a4d00;--warn-tint:#fdf1dc;--bad:#b3261e;--bad-tint:#fdf0ef;--none:#545d69;--none-tint:#eceff3}
@media(prefers-color-scheme:dark){:root{--page:#0f1217;--card:#1a1f26;--ink:#edf0f4;--soft:#aab3bf;--line:#313944;--good:#7fd1a0;--good-tint:#173024;--warn:#f0c274;--warn-tint:#352a16;--bad:#ffa79f;--bad-tint:#35201f;--none:#aab3bf;--none-tint:#262d36}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--ink);font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;overflow-wrap:anywhere}
main{max-width:52rem;margin:0 auto;padding:2rem 1.25rem 3rem}
h1,h2,h3,p,ul{margin:0;padding:0}
ul{list-style:none}
header{display:flex;gap:1.25rem;align-items:center}
.grade{flex:none;display:grid;place-items:center;width:5.5rem;height:5.5rem;border-radius:1.25rem;font-size:3.25rem;font-weight:700;line-height:1;letter-spacing:-.03em;border:2px solid currentColor}
.grade.A{color:var(--good);background:var(--good-tint)}
.grade.B,.grade.C,.grade.D{color:var(--warn);background:var(--warn-tint)}
.grade.F{color:var(--bad);background:var(--bad-tint)}
.kind{color:var(--soft);font-size:.875rem}
h1{font-size:1.375rem;line-height:1.25;font-weight:650;letter-spacing:-.02em}
.verdict{margin-top:.25rem;color:var(--soft);text-wrap:pretty}
.tally{display:flex;flex-wrap:wrap;gap:.5rem;margin:1.5rem 0 0}
.tally li{display:flex;align-items:center;gap:.375rem;padding:.25rem .75rem .25rem .5rem;border-radius:2rem;font-size:.9375rem}
svg{flex:none;fill:none;stroke:currentColor;stroke-width:2;stroke-linecap:round;stroke-linejoin:round}
.tally .pass,.pass .status{color:var(--good);background:var(--good-tint)}
.tally .warn,.warn .status{color:var(--warn);background:var(--warn-tint)}
.tally .fail,.fail .status{color:var(--bad);background:var(--bad-tint)}
.tally .not_run,.not_run .status{color:var(--none);background:var(--none-tint)}
section{margin-top:2rem}
h2{font-size:1rem;font-weight:650;margin-bottom:.625rem}
.rows{background:var(--card);border:1px solid var(--line);border-radius:.875rem;overflow:hidden}
.row{display:grid;grid-template-columns:7rem 1fr;gap:1rem;padding:.875rem 1rem}
.row+.row{border-top:1px solid var(--line)}
.status{display:flex;align-items:center;justify-self:start;align-self:start;gap:.375rem;padding:.125rem .625rem .125rem .375rem;border-radius:2rem;font-size:.875rem;font-weight:600;white-space:nowrap}
h3{display:flex;justify-content:space-between;gap:1rem;font-size:1rem;font-weight:600;line-height:1.4}
.took{flex:none;color:var(--soft);font-size:.8125rem;font-weight:400;font-variant-numeric:tabular-nums}
.proves{color:var(--soft);font-size:.875rem}
.seen{margin-top:.375rem;font-size:.9375rem}
.fault,.next{margin-top:.375rem;font-size:.9375rem}
.fail .seen{color:var(--bad);font-weight:600}
.todo ul{display:grid;gap:.75rem;padding:1rem;background:var(--card);border:1px solid var(--line);border-radius:.875rem}
.todo li{display:flex;gap:.625rem;font-size:.9375rem}
.todo svg{margin-top:.25rem}
.todo .fail svg{color:var(--bad)}
.todo .warn svg{color:var(--warn)}
a{color:inherit;font-weight:600;text-underline-offset:.2em}
:focus-visible{outline:3px solid var(--good);outline-offset:2px}
footer{margin-top:2rem;color:var(--soft);font-size:.875rem}
footer p+p{margin-top:.25rem}
@media(max-width:36rem){.row{grid-template-columns:1fr;gap:.5rem}.grade{width:4.25rem;height:4.25rem;font-size:2.5rem;border-radius:1rem}h1{font-size:1.125rem}}
@media print{body{background:#fff}.rows{break-inside:auto}.row{break-inside:avoid}}
`;
