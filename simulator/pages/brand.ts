import { html } from "./html.ts";

/** The ecosystem has its own brand, so that its pages look different from those of the service. */
export const brand = "Hearth & Hollow";

export const masthead = html`<header class="brand"><svg viewBox="0 0 24 24" width="30" height="30" aria-hidden="true"><path fill="currentColor" d="M3 22V11a9 9 0 0 1 18 0v11h-5v-3a4 4 0 0 0-8 0v3z"/><path class="flame" d="M12 8c2.500 2.500 3 4 1.800 5.600-.9 1.200-2.700 1.200-3.600 0C9.300 12.300 10 11 12 8z"/></svg><span>${brand}</span></header>`;

/** The style of all pages, light and dark. */
export const style = `
:root{--paper:#f5ece0;--card:#fffaf2;--ink:#2b1d14;--soft:#6a5546;--line:#dcc9b4;--ember:#9a3b14;--on-ember:#fffaf2;--ok:#3f6212;--warn:#8a5a00;--bad:#a3161a}
@media(prefers-color-scheme:dark){:root{--paper:#1b1310;--card:#281d18;--ink:#f4e8dc;--soft:#c4ac99;--line:#4a382e;--ember:#f2a374;--on-ember:#27150b;--ok:#a9cf6f;--warn:#f0c060;--bad:#ff9a8f}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:17px/1.5 Georgia,"Iowan Old Style","Times New Roman",serif}
main{max-width:30rem;margin:0 auto;padding:0 1rem 3rem}
main.wide{max-width:66rem}
.brand{display:flex;gap:.6rem;align-items:center;justify-content:center;padding:1.6rem 1rem 1.1rem;color:var(--ember);font-size:1.35rem;letter-spacing:.01em}
.flame{fill:var(--paper)}
.card{background:var(--card);border:1px solid var(--line);border-radius:18px 18px 6px 6px;padding:1.3rem 1.2rem;margin:0 0 1rem}
h1{font-size:1.45rem;line-height:1.25;margin:0 0 .7rem;font-weight:600;overflow-wrap:anywhere}
h2{font-size:1.1rem;margin:0 0 .6rem;font-weight:600;overflow-wrap:anywhere}
h3{font-size:1rem;margin:1rem 0 .5rem;font-weight:600}
p{margin:0 0 .8rem;overflow-wrap:anywhere}
.soft{color:var(--soft);font-size:.92rem}
ul{margin:0 0 1rem;padding-left:1.2rem}
fieldset{border:0;margin:0 0 1rem;padding:0;min-width:0}
legend{padding:0;margin-bottom:.4rem;font-weight:600}
.choice{display:flex;gap:.7rem;align-items:center;border:1px solid var(--line);border-radius:10px;padding:.7rem .8rem;margin-bottom:.5rem;overflow-wrap:anywhere}
input[type=radio]{accent-color:var(--ember);width:1.2rem;height:1.2rem;flex:none}
input[type=text],input[type=password],select{font:inherit;color:inherit;background:var(--paper);border:1px solid var(--soft);border-radius:10px;padding:.5rem .7rem;width:100%;min-height:2.75rem}
button{font:inherit;min-height:2.75rem;padding:.4rem .9rem;border-radius:10px;border:1.5px solid var(--ember);background:var(--card);color:var(--ember);cursor:pointer}
button:hover{background:var(--ember);color:var(--on-ember)}
:focus-visible{outline:3px solid var(--ember);outline-offset:2px}
.pair{display:grid;grid-template-columns:1fr 1fr;gap:.8rem}
.buttons{display:flex;flex-wrap:wrap;gap:.5rem;margin-bottom:.8rem}
.buttons button{padding:.3rem .7rem;font-size:.94rem}
::placeholder{color:var(--soft);opacity:1}
.pin{font:600 2rem/1.2 ui-monospace,Menlo,Consolas,monospace;letter-spacing:.14em;text-align:center;border:1.5px dashed var(--soft);border-radius:10px;padding:.8rem .3rem;margin:1rem 0;user-select:all}
.notice{border-left:5px solid var(--bad)}
.columns{display:grid;gap:1rem;align-items:start}
@media(min-width:52rem){.columns{grid-template-columns:3fr 2fr}}
.tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(9.5rem,1fr));gap:.5rem}
.tile{border:1px solid var(--line);border-radius:10px;padding:.55rem .7rem;font-size:.92rem;overflow-wrap:anywhere}
.tile b{display:block;font-weight:600}
.green{color:var(--ok)}.yellow{color:var(--warn)}.red{color:var(--bad);font-weight:700}.gray{color:var(--soft)}
a{color:var(--ember)}
.log{list-style:none;padding:0;margin:0;font:.8rem/1.45 ui-monospace,Menlo,Consolas,monospace}
.log li{padding:.3rem 0;border-top:1px solid var(--line);overflow-wrap:anywhere}
.row{display:grid;grid-template-columns:1fr auto;gap:.5rem;align-items:center;margin-bottom:.5rem}
code{font-size:.85rem;overflow-wrap:anywhere}
`;
