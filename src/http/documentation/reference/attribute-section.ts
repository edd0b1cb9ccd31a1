import {
  type AttributeGroup,
  attributeCatalogue,
  attributeNames,
  type CataloguedAttribute,
  valueKindNames,
} from "../../../virtual-device/attribute-catalogue.ts";
import { attributeCount } from "../../../virtual-device/attribute-names.ts";
import { type Html, html } from "../../../web/html.ts";
import { jsonCode } from "./code.ts";
import { panel } from "./panel.ts";
import { renderText } from "./render-text.ts";

/** The data model of a linked account. Groups are collapsed; browsers open them when a search finds a name inside. */
export function attributeSection(): Html {
  return html`<section class="operation" id="attributes" aria-labelledby="attributes-title">
<div class="telling">
<h2 id="attributes-title"><a href="#attributes">Attributes of a linked account</a></h2>
<p>${renderText(`A linked account is one virtual device of type \`EcosystemAccount\` with ${attributeCount} attributes. \`X\` is the index of a structure, \`Y\` the index of a device in it. \`GET /adaptor/largestrings\` maps the ecosystem's ids to indexes.`)}</p>
<p>${renderText("Booleans are the strings `true` and `false`. Totals are JSON numbers below `/v3`. A blank attribute is left out. If you ask for it by name or with `since`, an attribute that had a value before is null, with the time at which it became blank.")}</p>
${attributeCatalogue().map(group)}
<details class="names"><summary>All ${attributeCount} names</summary><pre tabindex="0" role="region" aria-label="All names">${attributeNames().join("\n")}</pre></details>
</div>
<div class="showing">${panel("A thermostat's attributes", "Example of attributes", jsonCode(example))}</div>
</section>`;
}

function group({ title, indexes, count, otherSpellings, attributes }: AttributeGroup): Html {
  const facts = [indexes, count === 1 ? "1 name" : `${count} names`].filter(Boolean).join(", ");
  return html`<details class="attributes"><summary>${title}</summary>
<p class="soft">${renderText(`${facts[0]!.toUpperCase()}${facts.slice(1)}.${alsoSpelled(otherSpellings)}`)}</p>
<ul class="fields">${attributes.map(attribute)}</ul></details>`;
}

function alsoSpelled(spellings: readonly string[]): string {
  return spellings.length === 0 ? "" : ` Also understood: ${spellings.map((name) => `\`${name}\``).join(", ")}.`;
}

function attribute({ pattern, isWritable, valueKind, values, meaning }: CataloguedAttribute): Html {
  const access = isWritable ? html`<span class="must">writable</span>` : html`<span class="note">read-only</span>`;
  return html`<li><p class="field"><code class="name">${pattern}</code> <span class="kind">${valueKindNames[valueKind]}</span> ${access}</p>
<p>${meaning[0]!.toUpperCase()}${meaning.slice(1)}.</p><p class="soft">Values: ${renderText(values)}.</p></li>`;
}

const updateTime = 1_792_406_400_000;
const example = {
  attributes: {
    "d.structures[1].d.thermostats[2].has_fan": { value: "true", updateTime },
    "d.structures[1].d.thermostats[2].fan_timer_active": { value: "false", updateTime },
    "d.structures[1].d.thermostats[2].fan_timer_active.requestWrite": { value: null, updateTime },
  },
};
