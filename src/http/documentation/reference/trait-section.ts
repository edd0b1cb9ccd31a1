import {
  type CataloguedCommand,
  type CataloguedField,
  type CataloguedTrait,
  type CataloguedValue,
  cataloguedTraits,
  parameterText,
} from "../../../home/catalogue-texts.ts";
import { type Html, html } from "../../../web/html.ts";
import { jsonCode } from "./code.ts";
import { panel } from "./panel.ts";
import { renderText } from "./render-text.ts";

/** The trait catalogue. Traits are collapsed; browsers open them when a search finds a name inside. */
export function traitSection(): Html {
  return html`<section class="operation" id="traits" aria-labelledby="traits-title">
<div class="telling">
<h2 id="traits-title"><a href="#traits">Traits of things</a></h2>
<p>${renderText("A thing has traits. A trait has state fields, each with its value and the time of its last change, capabilities, which say what the thing can do, and commands. The names and words are the same for every ecosystem. Null means that the ecosystem did not tell the value.")}</p>
<p>${renderText("Each trait also has the field `available`. False: the device does not answer, and the other fields are the last known values. Null: the ecosystem does not tell whether the device answers.")}</p>
<p>${renderText("A change of a `transition` is stored at once, and none is left out. Of a `level` the latest value counts. A `sample` is a measured value: a small change may wait up to a minute.")}</p>
${cataloguedTraits().map(trait)}
</div>
<div class="showing">${panel("The temperature trait of a thing", "Example of traits", jsonCode(example))}</div>
</section>`;
}

function trait({ name, meaning, fields, capabilities, commands }: CataloguedTrait): Html {
  return html`<details class="attributes"><summary>${name}</summary>
<p class="soft">${renderText(meaning)}</p>
<ul class="fields">${[...fields.map(field), ...capabilities.map((one) => row(one, "capability")), ...commands.map(command)]}</ul></details>`;
}

function field(described: CataloguedField): Html {
  return row(described, described.kind);
}

function row({ name, type, values, meaning }: CataloguedValue, what: string): Html {
  return html`<li><p class="field"><code class="name">${name}</code> <span class="kind">${type}</span> <span class="note">${what}</span></p>
<p>${renderText(meaning)}</p><p class="soft">Values: ${renderText(values)}.</p></li>`;
}

function command({ name, meaning, parameters }: CataloguedCommand): Html {
  const words = parameters.map(parameterText).join(" ") || "none.";
  return html`<li><p class="field"><code class="name">${name}</code> <span class="note">command</span></p>
<p>${renderText(meaning)}</p><p class="soft">Parameters: ${renderText(words)}</p></li>`;
}

const updateTime = 1_792_406_400_000;
const example = {
  traits: {
    temperature: {
      capabilities: { unit: "C" },
      state: { available: { value: true, updateTime }, celsius: { value: 20.5, updateTime } },
    },
  },
};
