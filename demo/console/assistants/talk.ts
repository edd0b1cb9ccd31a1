import { longestSentence, understoodForms } from "../../../simulator/assistants/sentence.ts";
import { iconOf } from "../../../src/outlets/console/tiles/icons.ts";
import { type Html, html } from "../../../src/web/html.ts";
import type { AssistantButton } from "./assistant-button.ts";

export interface TalkParts {
  readonly title: string;
  readonly path: string;
  readonly fields: readonly Html[];
  readonly examples: readonly string[];
  readonly button: AssistantButton;
  /** The attribute of what can't be used, with the reason. */
  readonly disabled: Html | undefined;
  /** Why the assistant can't use the account. */
  readonly problem: string | undefined;
}

/** The field for a sentence, and examples. */
export function talk({ title, path, fields, examples, button, disabled, problem }: TalkParts): Html {
  return html`<h2>Say something to ${title}</h2>
${problem && html`<p class="error">${iconOf("warning")}<span>${title} can’t use the account: ${problem}</span></p>${button("Link again", "link")}`}
<form class="say" method="post" action="${path}" data-quick>${fields}
<label for="sentence">Sentence</label>
<div class="row"><input type="text" id="sentence" name="sentence" maxlength="${longestSentence}" autocomplete="off" spellcheck="false" placeholder="${examples[0] ?? "turn on the hall fan"}" required${disabled}><button id="say" name="act" value="say"${disabled}>Say it</button></div></form>
<div class="buttons" role="group" aria-label="Examples">${examples.map((example, place) => button(example, `say:${example}`, `example-${place}`))}</div>
<details id="understood"><summary>Sentences that are understood</summary><ul>${understoodForms.map((form) => html`<li>${form}</li>`)}</ul><p class="small">The beginning of a name is enough: “hall” means “Hallway”.</p></details>`;
}
