/** The style of the console: 14 px text, 13 px tables, a grid of 8 px, one accent. It follows the style of all pages. */
export const consoleStyle = `
body.console{display:grid;grid-template-columns:13rem minmax(0,1fr);align-items:stretch;background:var(--page);padding:0;font-size:.875rem;min-height:100vh}
.rail{background:var(--card);border-right:1px solid var(--line);padding:1rem .75rem;display:flex;flex-direction:column;gap:.25rem;position:sticky;top:0;height:100vh;overflow-y:auto}
.rail .product{font-weight:700;padding:0 .5rem .75rem;letter-spacing:-.01em}
.rail a{display:block;padding:.5rem;border-radius:.5rem;color:var(--ink);text-decoration:none}
.rail a:hover,.rail a[aria-current]{background:var(--tint)}
.rail a[aria-current]{font-weight:650;box-shadow:inset 3px 0 0 var(--edge)}
.rail .foot{margin-top:auto;padding-top:1rem;border-top:1px solid var(--line)}
.rail .foot form{margin:0}
.switch{margin-bottom:.75rem;border:1px solid var(--line);border-radius:.5rem}
.switch summary{padding:.5rem;cursor:pointer;font-weight:600}
.switch a{padding:.375rem .5rem}
.content{padding:1.5rem;max-width:72rem;width:100%}
.content h1{font-size:1.375rem;margin-bottom:1rem}
.page-head{display:flex;flex-wrap:wrap;align-items:baseline;gap:.25rem 1rem;margin:0 0 .75rem}
.page-head h1{margin:0;flex:1 1 auto}
.freshness{margin:0;font-size:.8125rem;font-weight:600;color:var(--soft);font-variant-numeric:tabular-nums}
.freshness::before{content:"";display:inline-block;width:.5625rem;height:.5625rem;border-radius:50%;border:2px dashed currentColor;margin-right:.4375rem}
:root[data-fresh=live] .freshness{color:var(--good)}
:root[data-fresh=live] .freshness::before{background:var(--good);border:0}
:root[data-fresh=as-of] .freshness{color:var(--bad)}
:root[data-fresh=as-of]{--good:var(--soft);--good-tint:var(--tint)}
:root[data-fresh=as-of] .content [data-part]:not(:has(>.band)){filter:saturate(.25)}
.not-live:empty,.notice:empty{display:none}
.not-live,.notice{padding:.75rem 1rem;border-radius:.75rem;border:1.5px solid var(--bad);background:var(--bad-tint);color:var(--bad);font-weight:600}
.not-live a{color:inherit}
.content h2{font-size:1rem;margin:0 0 .75rem}
.content section{background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:1rem;margin-bottom:1rem}
.content section:empty{display:none}
.content table{width:100%;border-collapse:collapse;font-size:.8125rem}
.content th{text-align:left;font-weight:600;color:var(--soft);padding:.375rem .75rem .375rem 0}
.content td{padding:.375rem .75rem .375rem 0;border-top:1px solid var(--line);vertical-align:top}
.wide{overflow-x:auto}
.console button{display:inline-block;width:auto;min-height:2rem;padding:.25rem .75rem;font-size:.8125rem}
.console button.quiet{background:transparent;color:var(--link)}
.console input:not([type=hidden]),.console select{min-height:2.25rem;padding:.25rem .625rem;margin:0 0 .75rem;font:inherit;max-width:28rem}
.console form.inline{display:inline;margin:0}
.steps{list-style:none;margin:0;padding:0;display:grid;gap:.5rem}
.steps li{display:flex;gap:.5rem;align-items:center}
.steps svg,.needs svg{flex:none;width:1.25rem;height:1.25rem;color:var(--soft)}
.steps .is-done svg{color:var(--good)}
.needs{list-style:none;margin:0;padding:0;display:grid;gap:.5rem}
.needs li{display:flex;gap:.5rem}
.needs svg{color:var(--bad)}
.numbers{display:grid;grid-template-columns:repeat(auto-fill,minmax(9rem,1fr));gap:.75rem;margin:0}
.numbers div{padding:.75rem;border-radius:.5rem;background:var(--tint)}
.numbers dt{color:var(--soft)}
.numbers dd{margin:0;font-size:1.25rem;font-weight:650}
.console button:disabled{color:var(--soft);border-color:var(--line);background:var(--tint);cursor:not-allowed}
.console button[aria-busy=true]{cursor:progress}
.secret{font-family:ui-monospace,Menlo,Consolas,monospace;padding:.5rem;background:var(--tint);border-radius:.5rem;user-select:all}
@media(max-width:40rem){
body.console{display:block;padding-bottom:4.5rem}
.rail{position:fixed;inset:auto 0 0 0;height:auto;flex-direction:row;overflow-x:auto;border-right:0;border-top:1px solid var(--line);padding:.5rem;z-index:1}
.rail .product,.rail .foot{display:none}
.rail a{white-space:nowrap;min-height:2.75rem;padding:.75rem}
.switch{margin:0;white-space:nowrap}
.content{padding:1rem}
}
`;
