/** CSS of the page of the simulated assistants. On wide screens the state of the house is beside the form. */
export const assistantStyle = `
.asks a[aria-current]{color:var(--ink);box-shadow:inset 0 0 0 1.5px var(--edge)}
#part-choice{background:none;border:0;padding:0}
#part-choice .asks{margin:0}
.content form.act,.content form.say{margin:0}
.say .row{flex-wrap:nowrap;margin-bottom:.5rem}
.console .say .row button{flex:none;min-height:2.75rem}
.console .say input:not([type=hidden]){margin:0;flex:1;max-width:none;min-height:2.75rem;min-width:0}
.content #understood{margin-top:.75rem}
.content summary{cursor:pointer;font-size:.8125rem;font-weight:600;color:var(--link)}
#understood ul,.said-list,.devices,.left-out,.abilities{list-style:none;margin:0;padding:0}
#understood ul,.left-out{display:grid;gap:.375rem;font-size:.8125rem}
.said-list li{padding:.625rem 0;border-top:1px solid var(--line)}
.said-list li:first-child{border-top:0}
.said-list p{margin:0 0 .25rem}
.said{display:flex;flex-wrap:wrap;gap:.25rem .75rem;justify-content:space-between;align-items:baseline}
.said span{font-weight:650}
.said-list time{font-size:.8125rem;color:var(--soft);font-variant-numeric:tabular-nums;white-space:nowrap}
.outcome-word,.refusal,.abilities li{display:inline-block;padding:.0625rem .5rem;border-radius:1rem;font-size:.75rem;font-weight:650;background:var(--tint)}
[data-outcome=done] .outcome-word{background:var(--good-tint);color:var(--good)}
[data-outcome=unknown] .outcome-word,[data-outcome=notSent] .outcome-word{background:var(--warn-tint);color:var(--warn)}
[data-outcome=refused] .outcome-word,[data-outcome=failed] .outcome-word,.refusal{background:var(--bad-tint);color:var(--bad)}
.messages{display:grid;gap:.75rem}
.messages>*{min-width:0}
.message-box h3{font-size:.8125rem;margin:.5rem 0 0}
.console .message-box pre{max-height:20rem;overflow:auto}
.known{display:grid;gap:0 1rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,17rem),1fr))}
#part-house .facts div{grid-template-columns:minmax(0,1fr);gap:0}
#part-house .facts{margin-bottom:.75rem}
#part-devices h3{margin:.75rem 0 .5rem;font-size:.8125rem;color:var(--soft)}
.devices{display:grid;gap:.75rem}
.devices>li{padding:.75rem;border:1px solid var(--line);border-radius:.75rem}
.devices p{margin:0}
.told{font-weight:600}
.is-not-known .told,.reason{color:var(--soft)}
.abilities{display:flex;flex-wrap:wrap;gap:.25rem;margin-top:.375rem}
.abilities li{font-weight:400}
.reason{display:block}
@media(min-width:48rem){.messages{grid-template-columns:1fr 1fr}}
@media(min-width:64rem){
.content{display:grid;grid-template-columns:minmax(0,1fr) 22rem;column-gap:1rem;align-content:start}
.content>*{grid-column:1/-1}
#part-talk,#part-exchanges{grid-column:1}
#part-house,#part-reports{grid-column:2}
}
`;
