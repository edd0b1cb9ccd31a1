/**
 * The style of the console: 14 px text, 13 px tables, a grid of 8 px, one accent. It follows the style of all pages.
 * Green needs `data-fresh=live`, which only the script sets: a page without it shows an old state as old.
 */
export const consoleStyle = `
body.console{display:grid;grid-template-columns:13rem minmax(0,1fr);align-items:stretch;background:var(--page);padding:0;font-size:.875rem;min-height:100vh}
.rail{background:var(--card);border-right:1px solid var(--line);padding:1rem .75rem;display:flex;flex-direction:column;gap:.25rem;position:sticky;top:0;height:100vh}
.rail .entries{display:flex;flex-direction:column;gap:.25rem;flex:1;min-height:0;overflow-y:auto}
.rail .product{font-weight:700;padding:0 .5rem .75rem;letter-spacing:-.01em}
.badge{padding:.125rem .5rem;border-radius:1rem;background:#ffc24b;color:#3a2600;font-size:.75rem;font-weight:700;letter-spacing:0}
.rail a{display:block;padding:.5rem;border-radius:.5rem;color:var(--ink);text-decoration:none}
.rail a:hover,.rail a[aria-current]{background:var(--tint)}
.rail a[aria-current]{font-weight:650;box-shadow:inset 3px 0 0 var(--edge)}
.rail .foot{padding-top:.5rem;border-top:1px solid var(--line)}
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
:root[data-fresh=live] .freshness{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
:root[data-fresh=as-of] .freshness{color:var(--bad)}
:root:not([data-fresh=live]){--good:var(--soft);--good-tint:var(--tint)}
:root:not([data-fresh=live]) .content [data-part]:not(:has(>.band)){filter:saturate(.25)}
.not-live:empty,.notice:empty{display:none}
.not-live,.notice{padding:.75rem 1rem;border-radius:.75rem;border:1.5px solid var(--bad);background:var(--bad-tint);color:var(--bad);font-weight:600}
.notice[data-waits]{border-color:var(--line);background:var(--tint);color:var(--soft)}
.not-live a{color:inherit}
.content h2{font-size:1rem;margin:0 0 .75rem}
.content section{background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:1rem;margin-bottom:1rem}
.content section:empty{display:none}
.content section>:is(p,form):last-child{margin-bottom:0}
.content table{width:100%;border-collapse:collapse;font-size:.8125rem}
.content th{text-align:left;font-weight:600;color:var(--soft);padding:.375rem .75rem .375rem 0}
.content td{padding:.375rem .75rem .375rem 0;border-top:1px solid var(--line);vertical-align:baseline}
.wide{overflow-x:auto}
.content tr.is-grave{background:var(--bad-tint);box-shadow:inset .25rem 0 0 var(--bad)}
@media(min-width:64rem){.content tr.is-grave>:first-child{padding-left:.75rem}}
.console button{display:inline-block;width:auto;min-height:2rem;padding:.25rem .75rem;font-size:.8125rem}
.console button.quiet{background:transparent;color:var(--link)}
.console input:not([type=hidden]),.console select{min-height:2.25rem;padding:.25rem .625rem;margin:0 0 .75rem;font:inherit;max-width:28rem}
.console form.inline{display:inline-block;margin:0}
.steps{list-style:none;margin:0;padding:0;display:grid;gap:.5rem}
.steps li{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center}
.steps li>span:first-of-type{flex:1 1 16rem}
.steps svg,.needs svg{flex:none;width:1.25rem;height:1.25rem;color:var(--soft)}
.steps .is-done svg{color:var(--good)}
.needs{list-style:none;margin:0;padding:0;display:grid;gap:.5rem}
.needs li{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center}
.needs li>span{flex:1 1 16rem}
.needs strong{font-weight:600}
.needs svg{color:var(--bad)}
.needs .warn svg{color:var(--warn)}
.numbers{display:grid;grid-template-columns:repeat(auto-fill,minmax(8.5rem,1fr));gap:.75rem;margin:0}
.numbers div{display:flex;flex-direction:column;padding:.75rem;border-radius:.5rem;background:var(--tint)}
.numbers dt{color:var(--soft)}
.numbers dd{margin:0;font-size:1.25rem;font-weight:650}
.numbers dd a{color:inherit}
.numbers dd.small{font-size:.8125rem;font-weight:400;color:var(--soft)}
.numbers dd:has(>.strip){margin-top:auto}
.strip{display:block;width:100%;height:2.25rem;margin-top:.5rem}
.content .numbers+.small,.content .asks+.small,.content .needs+.small{margin-top:.75rem}
.strip .bar{fill:var(--edge)}
.strip .failed{fill:var(--bad)}
.strip .ground{fill:var(--line)}
.console button:disabled{color:var(--soft);border-color:var(--line);background:var(--tint);cursor:not-allowed}
.console button[aria-busy=true]{cursor:progress}
.secret{font-family:ui-monospace,Menlo,Consolas,monospace;padding:.5rem;background:var(--tint);border-radius:.5rem;user-select:all}
.soft{color:var(--soft)}
.state{display:inline-flex;gap:.25rem;align-items:baseline;font-weight:600}
.state svg{width:1rem;height:1rem;flex:none;align-self:center}
.state.good{color:var(--good)}
.state.warn{color:var(--warn)}
.state.bad{color:var(--bad)}
.state.off{color:var(--soft)}
.console{--warn:#8a5300}
@media(prefers-color-scheme:dark){.console{--warn:#f0b860}}
.console textarea{display:block;width:100%;max-width:40rem;padding:.375rem .625rem;margin:0 0 .75rem;font:inherit;color:inherit;background:var(--field);border:1px solid var(--field-line);border-radius:.625rem}
.console select{display:block;color:inherit;background:var(--field);border:1px solid var(--field-line);border-radius:.625rem;max-width:100%}
.console label{font-size:.8125rem}
.console a.button{display:inline-flex;align-items:center;min-height:2rem;padding:.25rem .75rem;font-size:.8125rem;font-weight:600;border:1.5px solid var(--edge);border-radius:.625rem;color:var(--link);text-decoration:none}
.console a.button:hover{background:var(--tint)}
.console .grave,.console a.button.grave{border-color:var(--bad);color:var(--bad)}
.console button.grave{background:transparent}
.asks,.pager,.choice{display:flex;flex-wrap:wrap;gap:.5rem;margin:.75rem 0 0}
.filter{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:end;margin:0 0 1rem}
.filter label{margin:0}
.filter input:not([type=hidden]),.filter select{margin:.25rem 0 0}
.facts{display:grid;gap:.5rem;margin:0}
.facts div{display:grid;grid-template-columns:minmax(8rem,12rem) minmax(0,1fr);gap:.25rem 1rem}
.facts dt{color:var(--soft)}
.facts dd{margin:0}
.facts ul,.list ul{margin:0;padding:0;list-style:none}
dialog.ask{position:static;display:block;width:auto;max-width:40rem;margin:0;padding:0;border:0;background:transparent;color:inherit}
dialog.ask form{margin-top:.75rem}
.content section:has(>dialog.ask){border:1.5px solid var(--edge)}
.as{margin-top:1rem;font-size:.8125rem}
.as summary{cursor:pointer;color:var(--soft)}
.console pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.5rem 0 0;padding:.5rem;background:var(--tint);border-radius:.5rem;font:.75rem/1.5 ui-monospace,Menlo,Consolas,monospace}
.console pre+p{margin-top:.75rem}
.done{padding:.5rem .75rem;border-left:3px solid var(--good);background:var(--tint);border-radius:.25rem}
:root:not([data-fresh]) :is([data-copies],[data-pauses]){display:none}
.sentence fieldset{border:1px solid var(--line);border-radius:.75rem;margin:0 0 1rem;padding:.5rem 1rem 1rem;min-width:0}
.sentence legend{font-weight:650;padding:0 .25rem}
.words{display:flex;flex-wrap:wrap;gap:.25rem 1rem;align-items:end}
.words>button{margin-bottom:.75rem}
.field{min-width:0;max-width:100%}
.console .field :is(input,select){margin:.25rem 0 .75rem;max-width:100%}
.console [aria-invalid]{border-color:var(--bad);outline:1px solid var(--bad)}
.then{margin:.5rem 0}
.then>label{display:flex;gap:.5rem;align-items:center;font-weight:600}
.console .then input[type=radio]{width:auto;min-height:0;margin:0;flex:none}
.then .more{display:flex;flex-wrap:wrap;gap:.25rem 1rem;padding:.5rem 0 0 1.5rem}
.then:not(:has(input[type=radio]:checked)) .more{display:none}
.live-sentence:empty{display:none}
.live-sentence,.is-sentence{display:block;padding:.75rem 1rem;border-radius:.5rem;background:var(--tint);font-size:1rem;font-weight:600;overflow-wrap:anywhere}
:root[data-fresh] #choose{display:none}
:root:not([data-fresh=live]) .when-live{display:none}
.chains,.chain-steps{list-style:none;margin:0;padding:0}
.chains>li{border-top:1px solid var(--line)}
.chains>li:first-child{border-top:0}
.chains>li>details>summary{display:flex;flex-wrap:wrap;gap:.125rem 1rem;justify-content:space-between;padding:.5rem 0;cursor:pointer}
.chains .small{margin:0;font-size:.8125rem}
.chain-what{font-weight:600;overflow-wrap:anywhere;flex:1 1 20rem;min-width:0}
.chain-steps{border-left:2px solid var(--line);padding-left:1rem;margin:.5rem 0 1rem .25rem;display:grid;gap:.5rem}
.chain-steps>li+li::before{content:"→ ";color:var(--soft)}
.raw summary{cursor:pointer;color:var(--soft);font-size:.8125rem}
.history{display:inline-flex;gap:.5rem;align-items:center;white-space:nowrap}
.history svg{width:7.5rem;height:.75rem;flex:none}
.history .line{fill:var(--line)}
.history .mark{fill:var(--edge)}
.value{overflow-wrap:anywhere}
.content h3{font-size:.875rem;margin:1rem 0 .25rem;overflow-wrap:anywhere}
.list .small{margin:0;font-size:.8125rem}
.refusal{display:flex;gap:.5rem;margin:.25rem 0 .75rem;color:var(--bad);font-weight:600}
.refusal svg{flex:none;width:1.125rem;height:1.125rem}
.code{overflow-wrap:anywhere;font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.75rem}
@media(min-width:64rem){
.content time{white-space:nowrap}
.content thead th{overflow-wrap:normal;white-space:nowrap}
}
@media(max-height:50rem){
.rail a{padding:.28125rem .5rem}
}
@media(max-width:63.99rem){
.list thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.list tr{display:block;padding:.5rem 0;border-top:1px solid var(--line)}
.list tbody tr:first-child{border-top:0}
.content .list td{display:grid;grid-template-columns:6.5rem minmax(0,1fr);gap:.5rem;border:0;padding:.125rem 0}
.list td::before{content:attr(data-label);color:var(--soft)}
.list td:empty{display:none}
.content tr.is-grave{padding-inline:.75rem}
}
@media(max-width:40rem){
.needs svg{align-self:start}
.facts div{grid-template-columns:minmax(0,1fr);gap:0}
body.console{display:block;padding-bottom:4.5rem}
.rail{position:static;height:auto;flex-direction:row;align-items:center;border-right:0;border-bottom:1px solid var(--line);padding:.25rem 1rem}
.rail .product{flex:none;margin-right:auto;padding:.625rem 0;white-space:nowrap}
.rail .entries{position:fixed;inset:auto 0 0 0;flex-direction:row;overflow-x:auto;background:var(--card);border-top:1px solid var(--line);padding:.5rem;z-index:1}
.rail .foot{display:flex;align-items:center;min-width:0;padding:0;border:0}
.rail .foot a{min-width:0;overflow:hidden;text-overflow:ellipsis}
.rail .foot button{min-height:2.75rem;white-space:nowrap}
.rail a{white-space:nowrap;min-height:2.75rem;padding:.75rem}
.switch{margin:0;white-space:nowrap}
.content{padding:1rem}
}
`;
