import { type Html, html } from "../../../web/html.ts";
import { hiddenFields } from "../../../web/page.ts";
import type { PageContext } from "../console-page.ts";
import { type ActInput, asCommand } from "./as-command.ts";

/** A form that a page opens with `?do=<name>`: the address carries it, and it needs no script. */
export interface Ask {
  /** Its name in the address. */
  readonly name: string;
  /** The command that it runs. */
  readonly act: string;
  /** The words of the link that opens it. */
  readonly link: string;
  readonly title: string;
  /** What will happen. */
  readonly words: Html | string;
  /** What is typed or chosen. */
  readonly fields?: Html | undefined;
  /** Options that are not typed. */
  readonly input?: Readonly<Record<string, string>>;
  /** An example of the whole input, for the command line. */
  readonly example?: ActInput;
  readonly button: string;
  /** The page to show afterwards; without it, the page that asks. */
  readonly afterwards?: string;
  /** It removes or ends something. */
  readonly isGrave?: boolean;
  /** Further parameters of the address while the form is open. */
  readonly more?: Readonly<Record<string, string>>;
}

/** Links to the forms that the operator's role allows; undefined when there is none. */
export function askLinks(context: PageContext, here: string, asks: readonly Ask[]): Html | undefined {
  const allowed = asks.filter(({ act }) => context.callOf(act) !== undefined);
  if (allowed.length === 0) return undefined;
  return html`<p class="asks">${allowed.flatMap((ask) => askLink(context, here, ask) ?? [])}</p>`;
}

/** A link that opens a form, after the password where the command needs it. */
export function askLink(
  context: PageContext,
  here: string,
  { name, act, link, isGrave, more }: Ask,
  about?: string,
): Html | undefined {
  const call = context.callOf(act);
  if (!call) return undefined;
  const form = context.address(here, { ...more, do: name });
  const { by } = context.operator;
  const needsPassword = call.asksPassword && by.kind === "session" && !by.isConfirmed;
  const target = needsPassword ? `/console/password?to=${encodeURIComponent(form)}` : form;
  return html`<a class="button${isGrave ? " grave" : ""}" href="${target}"${
    about === undefined ? undefined : html` aria-label="${link}: ${about}"`
  }>${link}</a>`;
}

/** The form that the address opens; undefined when it opens none, or the role does not allow it. */
export function openAsk(context: PageContext, here: string, asks: readonly Ask[]): Html | undefined {
  const ask = asks.find(({ name }) => name === context.parameter("do"));
  const call = ask && context.callOf(ask.act);
  if (!ask || !call) return undefined;
  const { name, act, title, words, fields, input = {}, example, button, afterwards, isGrave, more } = ask;
  const close = context.address(here);
  const to = afterwards ?? context.address(here, { done: act });
  return html`<dialog open class="ask" aria-labelledby="ask-title">
<h2 id="ask-title">${title}</h2>
<p>${words}</p>
<form method="post" action="/console/do">
${hiddenFields({ act, to, form: context.address(here, { ...more, do: name }), ...input })}
${fields}
<div class="choice"><button${isGrave ? html` class="grave"` : undefined}>${button}</button><a class="button" href="${close}">Cancel</a></div>
</form>
${asCommand(call, example ?? input, context.baseUrl)}
</dialog>`;
}

export interface Typed {
  readonly option: string;
  readonly label: string;
  readonly value?: string;
  readonly hint?: string;
  readonly isRequired?: boolean;
  readonly type?: "text" | "password" | "number" | "url" | "datetime-local" | "color";
  /** One value in each line. */
  readonly isLines?: boolean;
  readonly choices?: readonly (readonly [value: string, words: string])[];
  readonly isFirst?: boolean;
}

/** A labelled field of a form. */
export function typed({ option, label, value = "", hint, type = "text", choices, ...more }: Typed): Html {
  const { isRequired, isLines, isFirst } = more;
  const id = `ask-${option}`;
  const attributes = html` id="${id}" name="${option}"${isRequired ? html` required` : undefined}${
    hint === undefined ? undefined : html` aria-describedby="${id}-hint"`
  }${isFirst ? html` autofocus` : undefined}`;
  const field = choices
    ? html`<select${attributes}>${choices.map(
        ([choice, words]) =>
          html`<option value="${choice}"${choice === value ? html` selected` : undefined}>${words}</option>`,
      )}</select>`
    : isLines
      ? html`<textarea${attributes} rows="3">${value}</textarea>`
      : html`<input${attributes} type="${type}" value="${type === "password" ? "" : value}"${
          type === "password" ? html` autocomplete="new-password"` : html` autocomplete="off"`
        }>`;
  return html`<label for="${id}">${label}</label>
${hint === undefined ? undefined : html`<p class="small" id="${id}-hint">${hint}</p>`}
${field}`;
}
