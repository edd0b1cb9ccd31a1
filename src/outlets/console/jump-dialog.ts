import { type Html, html } from "../../web/html.ts";
import type { PageContext } from "./console-page.ts";

/** The dialog that Ctrl-K opens. Its form leads to the search page, which also works without a script. */
export function jumpDialog({ address }: PageContext): Html {
  const [path, search] = address("/search").split("?");
  const tenant = new URLSearchParams(search).get("tenant");
  return html`<dialog class="jump" id="jump" aria-label="Jump to a name or an id">
<form method="get" action="${path}" role="search">
${tenant === null ? undefined : html`<input type="hidden" name="tenant" value="${tenant}">`}
<label for="jump-text">A name, an id or a request id</label>
<input type="search" id="jump-text" name="q" maxlength="200" autocomplete="off" spellcheck="false">
</form>
<div id="jump-found" role="status"></div>
<p class="small">Enter opens the first one. Esc closes.</p>
</dialog>`;
}

export const jumpStyle = `
dialog.jump{width:min(40rem,calc(100vw - 2rem));max-height:calc(100vh - 4rem);margin:10vh auto auto;padding:1rem;border:1.5px solid var(--edge);border-radius:.75rem;background:var(--card);color:inherit}
dialog.jump::backdrop{background:rgb(0 0 0/.4)}
.console dialog.jump input{width:100%;max-width:none;margin:.25rem 0 .75rem}
dialog.jump .needs a:focus-visible{outline:2px solid var(--edge);outline-offset:2px}
.previews{display:flex;flex-wrap:wrap;gap:1rem}
.previews figure{margin:0;max-width:100%}
.previews figcaption{margin-bottom:.25rem;color:var(--soft)}
.previews iframe{display:block;max-width:100%;border:1px solid var(--line);border-radius:.75rem}
`;
