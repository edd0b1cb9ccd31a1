import { leastForLines, leastForText, readColor, shadeOn, textOn, writeColor } from "../model/contrast.ts";

const defaultAccent = "#0b6470";

/** In each colour scheme the surface with the least contrast to an accent: a shade that is visible on it is visible on all. */
const lightSurface = "#f4f6f8";
const darkSurface = "#1a1f26";

/** The style of all pages, in the colours of a tenant's accent. */
export function styleFor(accent: string | undefined): string {
  return accentStyle(accent ?? defaultAccent) + style;
}

/** The accent is parsed and written again, so that only colours can get into the style. */
function accentStyle(accent: string): string {
  const color = readColor(accent) ?? readColor(defaultAccent)!;
  const shades = (surface: string) => {
    const shade = (least: number) => writeColor(shadeOn(color, readColor(surface)!, least));
    return `--edge:${shade(leastForLines)};--link:${shade(leastForText)}`;
  };
  return `
:root{--accent:${writeColor(color)};--on-accent:${writeColor(textOn(color))};${shades(lightSurface)}}
@media(prefers-color-scheme:dark){:root{${shades(darkSurface)}}}`;
}

/** Mobile first: on narrow screens the card fills the page. */
const style = `
:root{color-scheme:light dark;--page:${lightSurface};--card:#fff;--ink:#14171c;--soft:#545d69;--line:#dde2e8;--tint:#f4f6f8;--field:#fff;--field-line:#79828f;--bad:#b3261e;--bad-tint:#fdf0ef;--good:#1b6e3c;--shadow:0 1px 2px rgba(20,23,28,.05),0 12px 32px -12px rgba(20,23,28,.16)}
@media(prefers-color-scheme:dark){:root{--page:#0f1217;--card:${darkSurface};--ink:#edf0f4;--soft:#aab3bf;--line:#313944;--tint:#232932;--field:#12161b;--field-line:#7d8896;--bad:#ffa79f;--bad-tint:#35201f;--good:#7fd1a0;--shadow:none}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;min-height:100vh;display:flex;flex-direction:column;background:var(--card);color:var(--ink);font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;overflow-wrap:anywhere}
.card{padding:2rem 1.5rem 1.5rem;width:100%}
header{margin-bottom:1.75rem}
.wordmark{font-size:1.25rem;font-weight:700;line-height:1.3;letter-spacing:-.015em}
.wordmark::before{content:"";display:block;width:2rem;height:.25rem;border-radius:1rem;background:var(--edge);margin-bottom:.625rem}
.logo{display:block;max-width:min(100%,14rem);max-height:3.5rem}
@media(prefers-color-scheme:dark){.logo{background:#fff;padding:.5rem .75rem;border-radius:.625rem}}
h1{font-size:1.5rem;line-height:1.25;font-weight:650;letter-spacing:-.02em;margin:0 0 .5rem}
h2{font-size:1rem;line-height:1.4;font-weight:650;margin:0}
p{margin:0 0 1rem}
h1,p,li{text-wrap:pretty}
.lead{color:var(--soft)}
.name,.host{font-weight:600;color:var(--ink)}
a{color:var(--link);text-underline-offset:.2em}
label{display:block;font-weight:600;font-size:.9375rem;margin:0 0 .375rem}
input:not([type=hidden]){display:block;width:100%;min-height:3rem;margin:0 0 1.125rem;padding:.625rem .875rem;font:inherit;color:inherit;background:var(--field);border:1px solid var(--field-line);border-radius:.625rem}
input[aria-invalid]{border-color:var(--bad);box-shadow:0 0 0 1px var(--bad)}
button{display:block;width:100%;min-height:3rem;padding:.625rem 1rem;font:inherit;font-weight:600;border-radius:.625rem;border:1.5px solid var(--edge);background:var(--accent);color:var(--on-accent);cursor:pointer;touch-action:manipulation}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.alert{display:flex;gap:.75rem;margin:1.25rem 0 1.25rem;padding:.875rem 1rem;border-radius:.625rem;background:var(--bad-tint);color:var(--bad);font-weight:500}
.alert svg{flex:none;margin-top:.125rem}
form{margin-top:1.5rem}
.may{list-style:none;margin:.75rem 0 1.25rem;padding:0;display:grid;gap:.625rem}
.may li,.note,.account{display:flex;gap:.75rem}
.account{align-items:center;margin:1.25rem 0 1.5rem;padding:.625rem 1rem;border-radius:.625rem;background:var(--tint);line-height:1.35}
.account svg{flex:none;width:2rem;height:2rem;stroke-width:1.5;color:var(--soft)}
.may svg{flex:none;width:1.25rem;height:1.25rem;stroke-width:2;margin-top:.125rem;color:var(--link)}
.account span,.may span,.note span,.alert span{min-width:0}
.note{margin:1.25rem 0;padding:.875rem 1rem;border:1.5px solid var(--edge);border-radius:.625rem;font-weight:500}
.note svg{flex:none}
.terms{margin-top:1.5rem;padding-top:1.5rem;border-top:1px solid var(--line)}
.small{color:var(--soft);font-size:.875rem;margin:.125rem 0 .75rem}
.scroll{max-height:13rem;overflow-y:auto;white-space:pre-wrap;padding:.875rem 1rem;margin-bottom:.75rem;border:1px solid var(--line);border-radius:.625rem;background:var(--field);font-size:.9375rem}
.message>svg{width:2.75rem;height:2.75rem;stroke-width:1.5;color:var(--soft);margin-bottom:1rem}
.message p{color:var(--soft)}
.message p:last-child{margin:0}
.message.error>svg{color:var(--bad)}
.message.done>svg{color:var(--good)}
.id{font-family:ui-monospace,Menlo,Consolas,monospace}
.pair{display:grid;grid-template-columns:1fr 1fr;gap:.75rem}
.pair button{background:transparent;color:var(--link)}
@media(hover:hover){.pair button:hover{background:var(--accent);color:var(--on-accent)}}
footer{padding:0 1.5rem 2rem;color:var(--soft);font-size:.875rem}
footer p{margin:0 0 .5rem}
footer a{display:inline-block;padding:.75rem 0}
@media(min-width:30rem){body{background:var(--page);align-items:center;padding:3rem 1rem 1rem}.card{max-width:28rem;padding:2.25rem;background:var(--card);border:1px solid var(--line);border-radius:1.25rem;box-shadow:var(--shadow)}footer{max-width:28rem;width:100%;padding:1.25rem 2.25rem}}
@media(min-width:30rem) and (min-height:50rem){body{padding-top:12vh}}
`;
