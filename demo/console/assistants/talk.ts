import { longestSentence, understoodForms } from "../../../simulator/assistants/sentence.ts";
import type { Button } from "../../../src/outlets/console/tiles/button.ts";
import { iconOf } from "../../../src/outlets/console/tiles/icons.ts";
import { type Html, html } from "../../../src/web/html.ts";

export interface TalkParts {
  readonly title: string;
  readonly path: string;
  readonly formToken: string;
  readonly examples: readonly string[];
  readonly button: Button;
  /** Why the assistant can't use the account. */
  readonly problem: string | undefined;
  /** False while the page is not current. */
  readonly isEnabled: boolean;
}

/** The field for a sentence, and examples. */
export function talk({ title, path, formToken, examples, button, problem, isEnabled }: TalkParts): Html {
  const disabled = isEnabled ? undefined : html` disabled`;
  return html`<section class="card talk" data-part id="talk" aria-labelledby="talk-name">
<h2 id="talk-name">Say something to ${title}</h2>
${problem && html`<div class="error">${iconOf("warning")}<span>${title} can’t use the account: ${problem}</span></div>${button("Link again", "link")}`}
<form class="act say" method="post" action="${path}"><input type="hidden" name="form" value="${formToken}">
<label for="sentence">Sentence</label>
<div class="row"><input type="text" id="sentence" name="sentence" maxlength="${longestSentence}" autocomplete="off" spellcheck="false" placeholder="${examples[0] ?? "turn on the hall fan"}" required${disabled}><button class="main" id="say" name="act" value="say"${disabled}>Say it</button></div></form>
<div class="buttons" role="group" aria-label="Examples">${examples.map((example, place) => button(example, `say:${example}`, { id: `example-${place}` }))}</div>
<p class="outcome" role="status"></p>
<details id="understood"><summary>Sentences that are understood</summary><ul>${understoodForms.map((form) => html`<li>${form}</li>`)}</ul><p class="hint">The beginning of a name is enough: “hall” means “Hallway”.</p></details>
</section>`;
}
