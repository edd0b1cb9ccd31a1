/** The style of tiles, of states and of emergencies. */
export const tileStyle = `
.kind,.hint{color:var(--soft);font-size:.8125rem}
.says{font-size:1.0625rem;font-weight:650}
.thermostat header .icon{width:1.75rem;height:1.75rem;color:var(--soft)}
.thermostat.is-running{border-color:var(--edge)}
.thermostat.is-running .fan{color:var(--link)}
.thermostat .says{font-size:1.375rem;line-height:1.3;letter-spacing:-.01em;font-variant-numeric:tabular-nums}
.is-not-known .says{color:var(--soft)}
.row{display:flex;flex-wrap:wrap;align-items:center;gap:.5rem}
.row form{flex:1 1 auto;display:flex}
.row button{flex:1 1 auto}
.modes{gap:.375rem}
.modes form{flex:none}
.modes button{min-width:2.75rem;padding-inline:.5rem}
.fan{flex-wrap:nowrap;padding-top:.75rem;border-top:1px solid var(--line)}
.fan p{flex:1;min-width:0;font-weight:600}
.outcome{display:grid;gap:.375rem;font-size:.8125rem;color:var(--soft)}
.outcome:empty{display:none}
.error{display:flex;gap:.5rem;padding:.625rem .75rem;border-radius:.625rem;background:var(--bad-tint);color:var(--bad);font-size:.8125rem;font-weight:600}
.error .icon{width:1.125rem;height:1.125rem;margin-top:.0625rem}
.stages{list-style:none;margin:0;padding:0;display:flex;flex-wrap:wrap;gap:.25rem .375rem;font-weight:600}
.stages li+li::before{content:"→ ";color:var(--soft);font-weight:400}
.stages .is-reached{color:var(--good)}
.ring{display:grid;place-items:center;width:2.75rem;height:2.75rem;border-radius:50%;border:3px solid currentColor}
.ring .icon{width:1.375rem;height:1.375rem}
.alarm.green .ring,.alarm.green .says{color:var(--good)}
.alarm.yellow{background:var(--warn-tint);border-color:var(--warn)}
.alarm.yellow .ring,.alarm.yellow .says{color:var(--warn)}
.alarm.red{background:var(--bad-tint);border-color:var(--bad)}
.alarm.red .ring,.alarm.red .says{color:var(--bad)}
.alarm.red .kind,.alarm.yellow .kind{color:var(--ink)}
.alarm.gray .ring,.alarm.gray .says{color:var(--gray)}
.device.is-on{background:var(--lit-tint);border-color:var(--lit)}
.device.is-on header .icon,.device.is-on .says{color:var(--lit)}
.device.is-on .kind,.device.is-on .outcome{color:var(--ink)}
.device .outcome{margin-top:auto}
:root{--warn:#8a5200;--warn-tint:#fdf3dd;--good-tint:#e7f4ec;--gray:#5d6873;--lit:#8a5a00;--lit-tint:#fff4d1;--band:#b3261e}
@media(prefers-color-scheme:dark){:root{--warn:#f3c27c;--warn-tint:#2e2413;--good-tint:#14291d;--gray:#a3aeb8;--lit:#ffd479;--lit-tint:#2f2713;--band:#8c1d18}}
.icon{flex:none}
.was{color:var(--soft);font-size:.8125rem}
.buttons{display:flex;flex-wrap:wrap;gap:.5rem}
.tiles{display:grid;gap:.75rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,18rem),1fr))}
.tiles:empty{display:none}
.tiles+.tiles{margin-top:.75rem}
.tile{display:flex;flex-direction:column;gap:.625rem;padding:1rem;border:1px solid var(--line);border-radius:.875rem}
.tile header{display:flex;gap:.75rem;align-items:center}
.tile header>div{min-width:0;flex:1}
.fan .icon{width:1.5rem;height:1.5rem}
button[aria-pressed=true]:enabled{background:var(--tint);box-shadow:inset 0 0 0 1.5px var(--edge)}
button[aria-pressed=false]:enabled{border-color:var(--line);color:var(--ink)}
.is-not-known{border-style:dashed}
.countdown{font-variant-numeric:tabular-nums;font-weight:500}
.countdown::before{content:"· "}
.countdown::after{content:" left"}
.console .tile button:enabled{background:var(--card);color:var(--link);border-color:var(--edge)}
.console .tile button[aria-pressed=false]:enabled{border-color:var(--line);color:var(--ink)}
.console .tile button[aria-pressed=true]:enabled{background:var(--tint);color:var(--ink);box-shadow:inset 0 0 0 1.5px var(--edge)}
.rooms{display:grid;gap:.75rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,18rem),1fr));align-items:start;margin-bottom:1rem}
.room{display:grid;gap:.5rem}
.room>h3{margin:0;font-size:.8125rem;font-weight:600;color:var(--soft)}
.strip .unknown{fill:var(--line)}
.tile header{margin:0}
.tile h3{margin:0;font-size:.875rem}
.tile p{margin:0}
.tile form{margin:0}
.fan form,.fan>button{flex:none}
.content .tiles+h2{margin-top:1rem}
.band{display:flex;align-items:center;gap:.75rem;margin:0;font-size:1.1875rem;font-weight:700;line-height:1.3}
.band ul{list-style:none;margin:0;padding:0;display:grid;gap:.25rem;min-width:0}
.band a{color:inherit}
.band .whose,.band .whose .name{font-size:.875rem;font-weight:500;color:inherit}
.content section:has(>.band){background:var(--band);border-color:var(--band);color:#fff;position:sticky;top:.5rem;z-index:1}
.state{display:inline-flex;align-items:baseline;gap:.25rem;font-weight:600;white-space:nowrap}
.state .icon{width:1.125rem;height:1.125rem;align-self:center}
.state.good{color:var(--good)}
:root:not([data-fresh=live]) :is(.state.good,.alarm.green .says)::after{content:" then, unknown now";font-weight:400}
.state.warn{color:var(--warn)}
.state.bad{color:var(--bad)}
.state.gray{color:var(--gray)}
.card-head{display:flex;flex-wrap:wrap;justify-content:space-between;gap:.25rem 1rem;margin:0 0 .5rem}
.content .card-head h2{margin:0}
.home-facts{display:flex;flex-wrap:wrap;gap:.5rem 2rem;margin:0 0 .75rem}
.home-facts dt{color:var(--soft);font-size:.8125rem}
.home-facts dd{margin:0}
.lines{list-style:none;margin:0;padding:0}
.lines li{display:flex;flex-wrap:wrap;justify-content:space-between;gap:.25rem 1rem;padding:.375rem 0;border-top:1px solid var(--line)}
.lines li:first-child{border-top:0}
.lines .small{margin:0;font-size:.8125rem}
.strip{display:block;width:100%;height:1.5rem;border-radius:.375rem}
.strip .seen{fill:var(--good)}
.strip .blind{fill:var(--bad)}
`;
