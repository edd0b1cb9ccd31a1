/**
 * The rules that only the pages of assistants need. Mobile first: one column, with the house below the sentence, so that
 * a person who says something sees the house change. From 60rem on the house and the reports stand beside.
 */
export const assistantStyle = `
.choice{display:flex;gap:.5rem}
.choice a{flex:1 1 auto;max-width:14rem;padding:.6875rem 1rem;text-align:center;font-weight:600;text-decoration:none;background:var(--card);border:1.5px solid var(--line);border-radius:.625rem}
.choice a[aria-current]{border-color:var(--accent);background:var(--tint)}
.assistant{display:grid;gap:1rem;align-content:start}
.assistant>*,.talking>*,.hearing>*{min-width:0}
.talking,.hearing{display:contents}
.talk{order:1}.house-now{order:2}.exchanges{order:3}.reports{order:4}.known{order:5}
.talk{display:grid;gap:.75rem}
.say{display:grid;gap:.375rem}
.say label{font-size:.875rem;font-weight:600}
.say .row{flex-wrap:nowrap}
.say .row button{flex:none}
input[type=text]{flex:1;min-width:0;min-height:2.75rem;padding:.5rem .75rem;font:inherit;color:inherit;background:var(--card);border:1px solid var(--gray);border-radius:.625rem}
input[type=text]:disabled{color:var(--soft);background:var(--chip)}
.talk .buttons button{font-weight:500;text-align:left}
summary{padding:.625rem 0;font-size:.8125rem;font-weight:600;color:var(--accent);cursor:pointer;min-height:2.75rem}
details ul{display:grid;gap:.25rem;font-size:.8125rem;margin-bottom:.5rem}
.exchanges ol,.reports ol{display:grid;margin-top:.5rem}
.exchange,.reports li{padding:.75rem 0;border-top:1px solid var(--line)}
.exchange:first-child,.reports li:first-child{border-top:0}
.said{display:flex;flex-wrap:wrap;gap:.25rem .75rem;justify-content:space-between;align-items:baseline}
.said span{font-weight:650}
.said time,.reports time{font-size:.8125rem;color:var(--soft);font-variant-numeric:tabular-nums;white-space:nowrap}
.answer{margin-top:.25rem}
.outcome-word{display:inline-block;padding:.0625rem .5rem;border-radius:1rem;font-size:.75rem;font-weight:650;background:var(--chip);color:var(--ink)}
[data-outcome=done] .outcome-word{background:var(--good-tint);color:var(--good)}
[data-outcome=inProgress] .outcome-word{background:var(--tint);color:var(--accent)}
[data-outcome=unknown] .outcome-word,[data-outcome=notSent] .outcome-word{background:var(--warn-tint);color:var(--warn)}
[data-outcome=refused] .outcome-word,[data-outcome=failed] .outcome-word,.refusal{background:var(--bad-tint);color:var(--bad)}
.refusal{padding:.0625rem .5rem;border-radius:1rem;font-size:.75rem;font-weight:650}
.messages{display:grid;gap:.75rem}
.messages>*{min-width:0}
.message-box h3{font-size:.8125rem;margin-bottom:.25rem}
pre{margin:0;padding:.75rem;max-height:20rem;overflow:auto;background:var(--code);color:var(--code-ink);border-radius:.625rem;white-space:pre-wrap;line-height:1.5}
pre code{font-size:.75rem}
pre:focus-visible{outline-color:#8fdbe4;outline-offset:-3px}
.reports li p{font-size:.875rem}
.reports summary{padding-bottom:.25rem}
.known header{display:flex;flex-wrap:wrap;gap:.5rem 1rem;justify-content:space-between;align-items:center}
.rooms{display:grid;gap:0 1rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,17rem),1fr))}
.room{margin:1rem 0 .5rem}
.devices{display:grid;gap:.75rem}
.devices>li{padding:.875rem;border:1px solid var(--line);border-radius:.875rem}
.devices .state{font-weight:600}
.is-not-known .state{color:var(--soft)}
.abilities{display:flex;flex-wrap:wrap;gap:.25rem;margin-top:.5rem}
.abilities li{padding:.0625rem .5rem;border-radius:1rem;background:var(--chip);font-size:.75rem}
.left-out{display:grid;gap:.5rem;font-size:.8125rem}
.reason{display:block;color:var(--soft)}
.house-now dl{display:grid;gap:.5rem 1rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,17rem),1fr));margin:.75rem 0;font-size:.875rem}
.house-now dt{font-weight:650}
.house-now dd{margin:0;color:var(--soft)}
@media(min-width:48rem){.messages{grid-template-columns:1fr 1fr}}
@media(min-width:60rem){.talking,.hearing{display:grid;gap:1rem;align-content:start}.assistant{grid-template-columns:minmax(0,1fr) 24rem}.known{grid-column:1/3}}
`;
