import { html } from "../../web/html.ts";
import { hiddenFields, type Page, pageOf } from "../../web/page.ts";

/** Members of an answer in words. */
const labels: Readonly<Record<string, string>> = {
  client_id: "Client",
  client_secret: "Secret",
  url: "Link",
  days: "Valid for days",
  expires: "Valid until",
  name: "Name",
  operator: "Operator",
  tokenId: "Id",
  created: "Made",
  secret: "Secret",
  token: "Token",
};

/** A secret that is shown once, in a dialog with one way out. The address of the page never shows it again. */
export function secretPage(answer: object, to: string): Page {
  const rows = Object.entries(answer).filter(([, value]) => typeof value === "string" || typeof value === "number");
  const [path, search] = to.split("?", 2);
  const main = html`<dialog open class="ask" aria-labelledby="once">
<h1 id="once">Shown only now</h1>
<p class="lead">Store it before you go on. The service keeps only what it needs to recognise it.</p>
<dl>${rows.map(
    ([name, value]) =>
      html`<dt>${labels[name] ?? name}</dt><dd class="secret" tabindex="0" dir="ltr">${
        name === "url"
          ? html`<a href="${String(value)}" target="_blank" rel="noopener">${String(value)}</a>`
          : String(value)
      }</dd>`,
  )}</dl>
<form method="get" action="${path}">
${hiddenFields(Object.fromEntries(new URLSearchParams(search ?? "")))}
<button>I have stored it</button>
</form>
</dialog>`;
  return pageOf({ title: "Shown only now · Breezeway", brand: undefined, main, moreStyle: secretStyle });
}

const secretStyle = `
dialog.ask{position:static;display:block;width:auto;max-width:none;margin:0;padding:0;border:0;background:transparent;color:inherit}
dl{margin:0}
dt{font-weight:600;margin-top:.75rem}
.secret{margin:.25rem 0 0;font-family:ui-monospace,Menlo,Consolas,monospace;padding:.5rem;background:var(--tint);border-radius:.5rem;user-select:all}
`;
