import { tileContentStyle } from "../../src/outlets/console/tiles/style.ts";

/**
 * Mobile first: one column, with the lamp above the house, so that a user who presses a button of the house sees the
 * lamp change. From 60rem on the lamp and the recent changes stand beside the house.
 */
export const style = `
:root{color-scheme:light dark;--page:#f3f6f7;--card:#fff;--ink:#17202a;--soft:#55616e;--line:#dfe6ea;--accent:#0b6470;--on-accent:#fff;--tint:#e6f2f3;--chip:#eef2f4;--good:#1b6e3c;--good-tint:#e7f4ec;--warn:#8a5200;--warn-tint:#fdf3dd;--bad:#b3261e;--bad-tint:#fdecea;--band:#b3261e;--on-band:#fff;--gray:#5d6873;--lit:#8a5a00;--lit-tint:#fff4d1;--badge:#ffc24b;--on-badge:#3a2600;--code:#0f1c26;--code-ink:#dbe6ec;--shadow:0 1px 2px rgba(15,28,38,.05),0 8px 24px -16px rgba(15,28,38,.28)}
@media(prefers-color-scheme:dark){:root{--page:#0d1115;--card:#161c22;--ink:#e8edf1;--soft:#a7b2bd;--line:#29323b;--accent:#62c6d2;--on-accent:#06262b;--tint:#132a2f;--chip:#212a32;--good:#7fd1a0;--good-tint:#14291d;--warn:#f3c27c;--warn-tint:#2e2413;--bad:#ff9d94;--bad-tint:#341b19;--band:#8c1d18;--on-band:#fff;--gray:#a3aeb8;--lit:#ffd479;--lit-tint:#2f2713;--badge:#f5b83d;--code:#0a0e12;--code-ink:#dbe6ec;--shadow:none}}
/* An unknown state is never green. */
:root.is-unknown{--good:var(--gray);--good-tint:var(--chip)}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--ink);font:.9375rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;-webkit-font-smoothing:antialiased;overflow-wrap:anywhere}
h1,h2,h3,p,ol,ul{margin:0}
ol,ul{padding:0;list-style:none}
h2{font-size:1.0625rem;line-height:1.3;font-weight:650;letter-spacing:-.01em}
h3{font-size:.9375rem;line-height:1.3;font-weight:650}
a{color:var(--accent);text-underline-offset:.2em}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;font-size:.8125rem}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
#house:focus{outline:0}
.icon{flex:none}
.out-of-sight{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.skip{position:absolute;left:-100rem;background:var(--card);padding:.75rem 1rem;z-index:3}
.skip:focus{left:.5rem;top:.5rem}
.needs-script{display:none}
.has-script .needs-script{display:inline-block}
.has-script .needs-no-script{display:none}
.top{z-index:2;background:var(--card);border-bottom:1px solid var(--line)}
.bar{display:flex;flex-wrap:wrap;align-items:center;gap:.375rem .75rem;max-width:80rem;margin:0 auto;padding:.625rem 1rem}
.brand{display:flex;align-items:center;gap:.5rem;font-weight:700;font-size:1.0625rem;letter-spacing:-.015em}
.badge{background:var(--badge);color:var(--on-badge);font-size:.75rem;font-weight:700;padding:.125rem .5rem;border-radius:1rem}
.live{display:flex;align-items:center;gap:.4375rem;font-size:.8125rem;font-weight:600;color:var(--soft);font-variant-numeric:tabular-nums}
.live::before{content:"";width:.5625rem;height:.5625rem;border-radius:50%;background:var(--gray)}
.live[data-look=live]{color:var(--good)}
.live[data-look=live]::before{background:var(--good)}
.live[data-look=unknown]{color:var(--bad)}
.live[data-look=unknown]::before{background:none;border:2px dashed var(--bad)}
.top nav{display:flex;gap:.25rem;margin-left:auto}
.top nav a{padding:.625rem .625rem;font-size:.875rem;font-weight:600;text-decoration:none}
.top nav a:hover,.top nav a[aria-current]{text-decoration:underline}
.is-emergency{position:sticky;top:0;background:var(--band);border-color:var(--band);color:var(--on-band);--accent:#fff;--on-accent:#8c1d18}
.is-emergency .live,.is-emergency .live[data-look]{color:#fff}
.is-emergency .live::before,.is-emergency .live[data-look]::before{background:#fff;border-color:#fff}
.band{display:flex;align-items:center;gap:.75rem;max-width:80rem;margin:0 auto;padding:.25rem 1rem 1rem;font-size:1.1875rem;font-weight:700;line-height:1.3}
main{display:grid;gap:1rem;max-width:80rem;margin:0 auto;padding:1rem}
main>*,.columns>*,.house>*{min-width:0}
.columns,.house{display:grid;gap:1rem;align-content:start}
.card,.structure,.walk{background:var(--card);border:1px solid var(--line);border-radius:1rem;box-shadow:var(--shadow);padding:1.125rem}
.walk ol{display:grid;gap:.25rem}
.walk li{display:flex;gap:.75rem;padding:.625rem;border-radius:.75rem}
.walk li p{color:var(--soft);font-size:.875rem;line-height:1.45}
.walk .number{flex:none;display:grid;place-items:center;width:1.75rem;height:1.75rem;border-radius:50%;border:1.5px solid var(--line);font-weight:700;font-size:.8125rem;color:var(--soft)}
.walk .is-next{background:var(--tint)}
.walk .is-next .number{border-color:var(--accent);color:var(--accent)}
.walk .is-done .number{background:var(--good);border-color:var(--good);color:var(--card)}
.walk .is-done .icon{width:1.125rem;height:1.125rem;stroke-width:2.600}
.command{display:flex;gap:.5rem;margin-top:.75rem;background:var(--code);border-radius:.75rem;padding:.375rem;align-items:center}
.command pre{flex:1;min-width:0;margin:0;padding:.5rem .625rem;color:var(--code-ink);white-space:pre-wrap;line-height:1.6;border-radius:.5rem}
.command button{flex:none;background:#22333f;border-color:#3f5564;color:#fff}
.command :focus-visible{outline-color:#8fdbe4}
button{min-height:2.75rem;padding:.5rem 1rem;font:inherit;font-size:.875rem;font-weight:600;color:var(--accent);background:var(--card);border:1.5px solid var(--accent);border-radius:.625rem;cursor:pointer;touch-action:manipulation}
button.main{background:var(--accent);color:var(--on-accent)}
button.danger{color:var(--bad);border-color:var(--bad)}
button:hover{filter:brightness(.96)}
button:disabled{color:var(--soft);border-color:var(--line);background:var(--chip);cursor:not-allowed}
button[aria-busy=true]{cursor:progress}
.notice:empty{display:none}
.notice{padding:.75rem 1rem;border-radius:.75rem;background:var(--bad-tint);color:var(--bad);font-weight:600}
.unknown:empty{display:none}
.unknown{padding:.75rem 1rem;border-radius:.75rem;border:1.5px solid var(--warn);background:var(--warn-tint);color:var(--warn);font-weight:600}
.was{color:var(--soft);font-size:.8125rem}
.lamp .was{margin-top:.5rem}
.structure-head{display:flex;flex-wrap:wrap;justify-content:space-between;align-items:center;gap:.75rem;margin-bottom:1rem}
.structure-head h2{font-size:1.375rem;letter-spacing:-.02em}
.presence{display:flex;align-items:center;gap:.375rem;font-weight:600;font-size:.875rem}
.presence .icon{width:1.25rem;height:1.25rem}
.is-home{color:var(--good)}
.is-away{color:var(--warn)}
.buttons{display:flex;flex-wrap:wrap;gap:.5rem}
.tiles{display:grid;gap:.75rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,18rem),1fr))}
.tiles.small{grid-template-columns:repeat(auto-fill,minmax(min(100%,14.5rem),1fr))}
.tiles:empty{display:none}
.tiles+.tiles{margin-top:.75rem}
.tile{display:flex;flex-direction:column;gap:.625rem;padding:1rem;border:1px solid var(--line);border-radius:.875rem}
.tile header,.lamp header{display:flex;gap:.75rem;align-items:center}
.tile header>div,.lamp header>div{min-width:0;flex:1}
${tileContentStyle.trim()}
.fan form,.fan>button{flex:none}
.fan .icon{width:1.5rem;height:1.5rem}
button[aria-pressed=true]:enabled{background:var(--tint);box-shadow:inset 0 0 0 1.5px var(--accent)}
button[aria-pressed=false]:enabled{border-color:var(--line);color:var(--ink)}
.is-not-known,.is-unknown .alarm.gray{border-style:dashed}
.countdown{font-variant-numeric:tabular-nums;font-weight:500}
.countdown::before{content:"· "}
.countdown::after{content:" left"}
.tile .act button{width:100%}
.lamp header .icon{width:2.25rem;height:2.25rem;color:var(--gray)}
.lamp .power{font-size:1.25rem;font-weight:700;text-transform:capitalize;color:var(--gray)}
.lamp.is-on{background:var(--lit-tint);border-color:var(--lit)}
.lamp.is-on .icon,.lamp.is-on .power{color:var(--lit)}
.lamp.is-on .icon{fill:var(--lit);fill-opacity:.22}
.lamp.is-on .kind,.lamp.is-on .alerts{color:var(--ink)}
.alerts{display:grid;gap:.5rem;margin-top:.875rem;padding-top:.75rem;border-top:1px solid var(--line);font-size:.8125rem;color:var(--soft)}
.lamp.is-on .alerts{border-color:color-mix(in srgb,var(--lit) 35%,transparent)}
.alerts code{font-size:.75rem;color:var(--ink)}
.stands{display:inline-block;font-weight:600;color:var(--ink)}
.stands::before{content:"· "}
.happened ol{display:grid;margin-top:.5rem}
.happened li{display:flex;gap:.75rem;padding:.5625rem 0;border-top:1px solid var(--line);font-size:.8125rem;line-height:1.45}
.happened li:first-child{border-top:0}
.happened li>div{min-width:0}
.happened time,.attributes time{white-space:nowrap;color:var(--soft);font-variant-numeric:tabular-nums}
.happened .change{display:block}
.change code::before{content:"→ "}
.happened b{font-weight:600}
.happened code{font-size:.75rem}
.cause{display:block;color:var(--soft)}
.attributes header{display:flex;flex-wrap:wrap;align-items:center;gap:.5rem 1rem;margin-bottom:.75rem}
.attributes form{display:flex;align-items:center;gap:.5rem;margin-left:auto;font-size:.875rem;font-weight:600}
input[type=search]{min-width:0;width:14rem;min-height:2.75rem;padding:.5rem .75rem;font:inherit;color:inherit;background:var(--card);border:1px solid var(--gray);border-radius:.625rem}
table{width:100%;border-collapse:collapse;font-size:.8125rem}
th,td{text-align:left;padding:.4375rem .75rem;border-top:1px solid var(--line);vertical-align:top}
thead th{border-top:0;font-weight:650}
th[scope=row]{font-weight:400}
td:last-child,th:last-child{white-space:nowrap}
footer{max-width:80rem;margin:0 auto;padding:.5rem 1rem 2rem;color:var(--soft);font-size:.8125rem}
.message{max-width:34rem;padding-top:20vh;gap:.75rem}
.message h1{font-size:1.5rem;letter-spacing:-.02em}
@media(prefers-reduced-motion:no-preference){.is-changed{animation:changed 1.2s ease-out}@keyframes changed{from{box-shadow:0 0 0 3px var(--accent)}}.is-running .fan .icon{animation:turn 2.5s linear infinite}@keyframes turn{to{transform:rotate(360deg)}}}
@media(min-width:48rem){.top{position:sticky;top:0}main{padding:1.25rem}.walk ol{grid-template-columns:repeat(4,1fr)}}
@media(min-width:60rem){.columns{grid-template:"house lamp" auto "house happened" auto "attributes happened" 1fr/minmax(0,1fr) 22rem;align-items:start}.house{grid-area:house}.columns>.lamp{grid-area:lamp}.happened{grid-area:happened}.attributes{grid-area:attributes}}
@media(max-width:30rem){.top nav a{padding:.625rem .375rem}.attributes form{margin-left:0;width:100%}.attributes form label{flex:none}input[type=search]{flex:1}.attributes thead{display:none}.attributes table,.attributes tbody{display:block}.attributes tr:not([hidden]){display:grid;grid-template-columns:1fr auto}.attributes th,.attributes td{border:0;padding:.0625rem 0}.attributes th{grid-column:1/3}.attributes tr{border-top:1px solid var(--line);padding:.4375rem 0}.attributes td:nth-child(2){font-weight:650}}
`;
