/** The steps stand side by side where there is room, and the lamp beside the buttons that switch it. */
export const simulatorStyle = `
.walk{list-style:none;margin:0;padding:0;display:grid;gap:.75rem 1.5rem}
.walk li{display:flex;gap:.625rem}
.walk h3,.walk p{margin:0}
.walk h3{font-size:.875rem}
.walk p{color:var(--soft);font-size:.8125rem}
.walk .number{flex:none;display:grid;place-items:center;width:1.75rem;height:1.75rem;border-radius:50%;border:2px solid var(--line);font-weight:650}
.walk .number svg{width:1rem;height:1rem}
.walk .is-next .number{border-color:var(--edge);color:var(--link)}
.walk .is-done .number{border-color:var(--good);color:var(--good)}
.command{display:flex;gap:.5rem;align-items:start;margin-top:.75rem}
.command pre{flex:1;min-width:0;margin:0}
#walked summary{cursor:pointer;font-weight:650}
#walked summary svg{width:1rem;height:1rem;vertical-align:-.125rem}
#walked .walk{margin-top:.75rem}
.content .scenes{display:grid;gap:.5rem;margin:0 0 .75rem}
.scenes p,.scenes h3{margin:0}
#part-lamp .tile{margin-bottom:.75rem}
@media(scripting:none){[data-copies]{display:none}}
@media(min-width:40rem){.walk{grid-template-columns:1fr 1fr}}
@media(min-width:64rem){
.walk{grid-template-columns:repeat(4,1fr)}
.content{display:grid;grid-template-columns:minmax(0,1fr) 22rem;column-gap:1rem;align-content:start}
.content>*{grid-column:1/-1}
#part-scenes{grid-column:1}
#part-lamp{grid-column:2}
}
`;
