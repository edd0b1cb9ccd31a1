/** One column on phones. From 64rem a table of contents stands beside it, from 80rem also the examples beside the text. */
export const style = `
:root{color-scheme:light dark;--page:#fff;--side:#f7f9fa;--ink:#17202a;--soft:#566270;--line:#e2e8ec;--accent:#0b6470;--on-accent:#fff;--tint:#e8f3f4;--chip:#eef2f4;--must:#9a4a00;--get:#0b5d8a;--post:#1b6e3c;--put:#8a5200;--delete:#b3261e;--good:#1b6e3c;--bad:#a3322a;--code:#0f1c26;--code-bar:#182a37;--code-line:#0f1c26;--code-ink:#dbe6ec;--code-soft:#93a9b6;--code-key:#86d0de;--code-text:#b6dca0;--code-number:#f4b98a;--code-good:#8fdcae;--code-bad:#ffb3a8;--shadow:0 1px 2px rgba(15,28,38,.08),0 10px 28px -14px rgba(15,28,38,.35)}
@media(prefers-color-scheme:dark){:root{--page:#0e1216;--side:#12171d;--ink:#e6ebf0;--soft:#a3afbb;--line:#262e37;--accent:#62c6d2;--on-accent:#06262b;--tint:#122a2f;--chip:#1d252d;--must:#f0b072;--get:#7cc0ee;--post:#7fd1a0;--put:#eebf74;--delete:#ff9d94;--good:#7fd1a0;--bad:#ff9d94;--code:#141a21;--code-bar:#1b232c;--code-line:#29333e;--shadow:none}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%;scroll-padding-top:4.5rem}
@media(prefers-reduced-motion:no-preference){html{scroll-behavior:smooth}}
body{margin:0;background:var(--page);color:var(--ink);font:.9375rem/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;-webkit-font-smoothing:antialiased}
a{color:var(--accent);text-underline-offset:.2em}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px;border-radius:.25rem}
p{margin:0 0 1rem;overflow-wrap:break-word}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace}
p code,li code{font-size:.8125rem;background:var(--chip);border-radius:.3125rem;padding:.125rem .3125rem;overflow-wrap:anywhere}
.skip{position:absolute;left:-100rem;background:var(--page);padding:.75rem 1rem;z-index:3}
.skip:focus{left:.5rem;top:.5rem}
.brand{display:flex;align-items:center;gap:.625rem;font-weight:700;font-size:1.0625rem;letter-spacing:-.015em;color:var(--ink);text-decoration:none}
.bar{position:sticky;top:0;z-index:2;display:flex;justify-content:space-between;align-items:center;padding:.75rem 1.25rem;background:var(--page);border-bottom:1px solid var(--line)}
.to-contents{font-size:.875rem;font-weight:600;padding:.375rem 0}
.side{display:none}
main{min-width:0;padding:0 1.25rem 4rem}
.menu{margin:1.25rem 0 0;border:1px solid var(--line);border-radius:.75rem;background:var(--side);scroll-margin-top:5rem}
.menu summary{padding:.75rem 1rem;width:auto;font-size:.875rem}
.menu nav{padding:0 1rem 1rem}
nav h2{font-size:.75rem;font-weight:650;letter-spacing:.02em;margin:1.5rem 0 .375rem}
nav h2 a{color:var(--ink);text-decoration:none}
nav ul{list-style:none;margin:0;padding:0}
nav li a{display:flex;justify-content:space-between;align-items:baseline;gap:.75rem;padding:.5rem .625rem;margin:0 -.625rem;border-radius:.375rem;font-size:.875rem;line-height:1.4;color:var(--soft);text-decoration:none}
nav a:hover,nav h2 a:hover{color:var(--accent)}
nav .method{font-size:.625rem}
.operation{padding:2.5rem 0;border-top:1px solid var(--line)}
#introduction{border-top:0}
.telling>:last-child,.showing>:last-child{margin-bottom:0}
.telling{min-width:0}
.telling ul+p{margin-top:1rem}
.showing{min-width:0;margin-top:1.5rem}
.showing:empty{display:none}
h1{font-size:2.125rem;line-height:1.15;letter-spacing:-.03em;font-weight:700;margin:0 0 1rem}
.telling h2{font-size:1.625rem;line-height:1.2;letter-spacing:-.025em;font-weight:700;margin:0 0 .75rem}
h3{font-size:1.25rem;line-height:1.3;letter-spacing:-.015em;font-weight:650;margin:0 0 .5rem}
.telling h2 a,h3 a{color:inherit;text-decoration:none}
.telling h2 a:hover,h3 a:hover{color:var(--accent)}
h4{font-size:.875rem;font-weight:650;margin:1.75rem 0 0;padding-bottom:.5rem;border-bottom:1px solid var(--line)}
.lead{font-size:1.0625rem;line-height:1.55;color:var(--soft)}
.lead code{font-size:.875rem}
.soft,.soft code{color:var(--soft);font-size:.8125rem}
.address{display:flex;flex-wrap:wrap;align-items:baseline;gap:.375rem;margin:0 0 1rem}
.address code{background:none;padding:0 0 0 .125rem;font-size:.875rem;color:var(--ink)}
.method{flex:none;font:600 .6875rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;letter-spacing:.03em;color:var(--get)}
.address .method{border:1px solid currentColor;border-radius:.3125rem;padding:.0625rem .375rem}
.post{color:var(--post)}
.put{color:var(--put)}
.delete{color:var(--delete)}
.access{display:inline-block;font-size:.875rem;line-height:1.5;color:var(--accent);background:var(--tint);border-radius:.5rem;padding:.375rem .75rem;margin:0}
.access code{background:none;padding:0;color:inherit;font-weight:600}
.fields,.answers,.errors{list-style:none;margin:0;padding:0}
.fields>li,.answers>li,.errors>li{padding:.75rem 0;border-bottom:1px solid var(--line)}
.fields>li:last-child,.answers>li:last-child,.errors>li:last-child{border-bottom:0;padding-bottom:0}
.fields p,.answers p,.errors p{margin:0;font-size:.875rem;line-height:1.55}
.fields p+p{margin-top:.25rem}
.field{display:flex;flex-wrap:wrap;align-items:baseline;gap:.125rem .5rem}
.name{background:none;padding:0;font-size:.875rem;font-weight:650}
.kind,.note{font-size:.8125rem;color:var(--soft)}
.must{font-size:.75rem;font-weight:650;color:var(--must)}
.choices{display:flex;flex-wrap:wrap;gap:.375rem;margin-top:.5rem!important}
details{margin-top:.625rem}
summary{cursor:pointer;font-size:.8125rem;font-weight:600;color:var(--accent);padding:.25rem 0;width:max-content;max-width:100%}
.fields details[open],.answers details[open]{border:1px solid var(--line);border-radius:.625rem;padding:.25rem .875rem .75rem}
.attributes{border-bottom:1px solid var(--line);padding-bottom:.5rem}
.attributes .soft{overflow-wrap:anywhere}
.names pre{padding:.5rem 0 0;white-space:pre-wrap;overflow-wrap:anywhere}
.errors>li{display:grid;grid-template-columns:2.5rem minmax(0,1fr);align-items:baseline}
.status{font:600 .8125rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;color:var(--soft)}
.s2{color:var(--good)}
.s4,.s5{color:var(--bad)}
.panel{margin:0 0 1rem;border:1px solid var(--code-line);border-radius:.75rem;background:var(--code);color:var(--code-ink);box-shadow:var(--shadow);overflow:hidden}
figcaption,.caption{display:flex;justify-content:space-between;gap:1rem;margin:0;padding:.5rem 1rem;background:var(--code-bar);color:var(--code-soft);font-size:.75rem;font-weight:600;line-height:1.6}
figcaption .status{font-size:.75rem}
figcaption .s2{color:var(--code-good)}
figcaption .s4,figcaption .s5{color:var(--code-bad)}
pre{margin:0;padding:.875rem 1rem;overflow-x:auto;font-size:.8125rem;line-height:1.65;tab-size:2}
pre:focus-visible{outline-offset:-3px;border-radius:.75rem}
.url pre{white-space:pre-wrap;overflow-wrap:anywhere}
.key{color:var(--code-key)}
.text{color:var(--code-text)}
.number{color:var(--code-number)}
.option,pre .soft{color:var(--code-soft);font-size:inherit}
.endpoints ul{list-style:none;margin:0;padding:.625rem 1rem}
.endpoints a{display:grid;grid-template-columns:3.75rem minmax(0,1fr);align-items:baseline;padding:.1875rem 0;text-decoration:none;color:inherit}
.endpoints code{background:none;padding:0;color:var(--code-ink);font-size:.8125rem}
.endpoints a:hover code{text-decoration:underline}
.endpoints .method{color:var(--code-key)}
.endpoints .post{color:var(--code-good)}
.endpoints .put{color:var(--code-number)}
.endpoints .delete{color:var(--code-bad)}
@media(min-width:64rem){html{scroll-padding-top:1.5rem}.bar,.menu{display:none}.columns{display:grid;grid-template-columns:17rem minmax(0,1fr)}.side{display:block;position:sticky;top:0;height:100vh;overflow-y:auto;padding:1.5rem 1.5rem 3rem;background:var(--side);border-right:1px solid var(--line)}.side nav{margin-top:1.5rem;scroll-target-group:auto}.side nav li a{padding:.3125rem .625rem}.side nav a:target-current{color:var(--accent)}.side nav li a:target-current{background:var(--tint);font-weight:600}main{padding:0 3rem 6rem;max-width:56rem}.operation{padding:3.5rem 0}#introduction{padding-top:3rem}}
@media(min-width:80rem){main{max-width:96rem}.operation{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:0 3.5rem}.telling{max-width:40rem}.showing{margin:0;position:sticky;top:1.5rem;align-self:start}}
@media print{.bar,.side,.menu{display:none}}
`;
