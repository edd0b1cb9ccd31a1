import { utcTime } from "../../src/outlets/console/tiles/as-of.ts";
import { attributeCount } from "../../src/virtual-device/attribute-names.ts";
import { type Html, html } from "../../src/web/html.ts";
import type { HouseView } from "./house-view.ts";

/** Every attribute that has a value, as `GET /v3/devices/{id}` returns it. */
export function attributeTable(view: HouseView, asOfMs: number | undefined, filter = ""): Html {
  const { attributes } = view;
  const rows = attributes
    .filter(({ name, value }) => `${name} ${value}`.toLowerCase().includes(filter.toLowerCase()))
    .map(({ name, value, updateTime }) => {
      const time = new Date(updateTime).toISOString();
      return html`<tr><th scope="row"><code>${name}</code></th><td><code>${value}</code></td><td><time datetime="${time}">${time.slice(11, 19)}</time></td></tr>`;
    });
  return html`<section class="card attributes" aria-labelledby="attributes-name">
<header><h2 id="attributes-name">All attributes</h2>${attributeCounter(view, asOfMs)}
<form method="get" action="/demo/" role="search"><label for="filter">Filter</label><input type="search" id="filter" name="filter" value="${filter}" placeholder="away, fan, alarm …" autocomplete="off" spellcheck="false"><button class="needs-no-script">Show</button></form></header>
<table>
<thead><tr><th scope="col">Attribute</th><th scope="col">Value</th><th scope="col">Changed, UTC</th></tr></thead>
<tbody data-part id="attributes">${rows}</tbody>
</table>
</section>`;
}

export function attributeCounter({ attributes }: HouseView, asOfMs: number | undefined): Html {
  const time = asOfMs === undefined ? "" : `, as of ${utcTime(asOfMs)}`;
  return html`<p class="hint" data-part id="attribute-count">${attributes.length} of ${attributeCount} have a value${time}</p>`;
}
