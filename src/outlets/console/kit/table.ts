import { type Html, html } from "../../../web/html.ts";
import type { PageContext } from "../console-page.ts";

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => Html | string | number | undefined;
}

/** A table whose rows become cards on a narrow screen. A grave row is red. */
export function tableOf<Row>(
  label: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  isGrave: (row: Row) => boolean = () => false,
): Html {
  return html`<table class="list" aria-label="${label}">
<thead><tr>${columns.map(({ title }) => html`<th scope="col">${title}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr${isGrave(row) ? html` class="is-grave"` : undefined}>${columns.map(({ title, cell }) => cellOf(title, cell(row)))}</tr>`)}</tbody>
</table>`;
}

/** On a narrow screen its title stands beside its content, so the content is one element. */
function cellOf(title: string, content: Html | string | number | undefined): Html {
  return content === undefined ? html`<td></td>` : html`<td data-label="${title}"><div>${content}</div></td>`;
}

/** Names and facts below each other. */
export function factsOf(facts: readonly (readonly [string, Html | string | number | undefined])[]): Html {
  const shown = facts.filter(([, value]) => value !== undefined);
  return html`<dl class="facts">${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** The parameters of the address that a list keeps from page to page. */
export function kept({ parameter }: PageContext, names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = parameter(name);
      return value === undefined || value === "" ? [] : [[name, value] as const];
    }),
  );
}

/** The input of a list: 50 entries, of the chosen tenant, from the address's cursor. */
export function pageInput(context: PageContext, names: readonly string[]): Readonly<Record<string, string>> {
  const { tenant } = context;
  return {
    ...kept(context, [...names, "cursor"]),
    ...(tenant && { tenant: String(tenant.tenantId) }),
    "page-size": "50",
  };
}

/** Links to the first page and to the next one. */
export function pager(
  context: PageContext,
  path: string,
  names: readonly string[],
  cursor: string | undefined,
): Html | undefined {
  const same = kept(context, names);
  const isFirst = context.parameter("cursor") === undefined;
  if (isFirst && cursor === undefined) return undefined;
  return html`<nav class="pager" aria-label="Pages">
${isFirst ? undefined : html`<a class="button" href="${context.address(path, same)}">First page</a>`}
${cursor === undefined ? undefined : html`<a class="button" href="${context.address(path, { ...same, cursor })}">Next page</a>`}
</nav>`;
}

export interface FilterField {
  readonly name: string;
  readonly label: string;
  /** Values to choose from; without them a text is typed. */
  readonly choices?: readonly (readonly [value: string, words: string])[];
  /** The choice when the address makes none; there is no "any" then. */
  readonly otherwise?: string;
}

/** A form that puts its fields into the address. */
export function filterForm(context: PageContext, path: string, fields: readonly FilterField[], words = "Filter"): Html {
  const { tenant, parameter } = context;
  const isTenantChosen = parameter("tenant") !== undefined && tenant !== undefined;
  return html`<form class="filter" method="get" action="/console${path}" role="search">
${isTenantChosen ? html`<input type="hidden" name="tenant" value="${tenant.tenantId}">` : undefined}
${fields.map(({ name, label, choices, otherwise }) => {
  const value = parameter(name) ?? otherwise ?? "";
  return html`<label>${label} ${
    choices === undefined
      ? html`<input type="search" name="${name}" value="${value}" maxlength="200">`
      : html`<select name="${name}">${otherwise === undefined ? html`<option value="">any</option>` : undefined}${choices.map(
          ([choice, words]) =>
            html`<option value="${choice}"${choice === value ? html` selected` : undefined}>${words}</option>`,
        )}</select>`
  }</label>`;
})}
<button class="quiet">${words}</button>
</form>`;
}
