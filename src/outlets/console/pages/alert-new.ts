import { type Html, html } from "../../../web/html.ts";
import { hiddenFields, named } from "../../../web/page.ts";
import { type Draft, deviceIn, draftFields, draftIn, fieldOf, type Options, optionsOf } from "../alerts/draft.ts";
import { editorForm, type UserHome } from "../alerts/editor.ts";
import type { ConsolePage, PageContext } from "../console-page.ts";
import { asCommand } from "../kit/as-command.ts";
import { attempt, type Refused, refusal } from "../kit/refused.ts";
import { filterForm } from "../kit/table.ts";
import type { ShownThing } from "../tiles/shown-thing.ts";
import { type DryRun, firingsOf } from "./alert.ts";

const path = "/alerts/new";
const period = "7d";

/** Makes an alert: first whose home, then the sentence, then what it would have done, and the button that makes it. */
export const newAlert: ConsolePage = {
  path,
  title: "New alert",
  subject: "tenants",
  query: ["user", "filter", "template", "check", "choose", ...draftFields],
  still: ["user", "sentence", "check"],
  async render(context) {
    const { parameter, wants } = context;
    const user = parameter("user") ?? "";
    if (user === "") return { user: await chooseUser(context) };
    if (!wants("sentence") && !wants("check")) return {};
    const found = await homeOf(context, user);
    const presence = found.things.find(({ traits }) => traits.presence)?.thingId;
    const draft = draftIn(context, presence);
    const home = { ...found, attributes: await attributesOf(context, user, draft) };
    const checked = parameter("check") === undefined ? undefined : await check(context, user, draft);
    const refused = checked && "refused" in checked ? checked.refused : undefined;
    const isElsewhere = refused !== undefined && fieldOf(refused) === undefined;
    return {
      sentence: html`<p><a href="${context.address(path, templateOf(context))}">Another user</a></p>
<h2>An alert of <bdi>${found.userName}</bdi></h2>
${isElsewhere ? refusal(refused) : undefined}
${editorForm(context, home, draft, refused)}`,
      check: checked && "previewed" in checked ? preview(context, user, checked) : undefined,
    };
  },
};

function templateOf({ parameter }: PageContext): Readonly<Record<string, string>> {
  const template = parameter("template");
  return template === undefined ? {} : { template };
}

/** Whose devices and things the alert is about. */
async function chooseUser(context: PageContext): Promise<Html> {
  const { call, address, tenant, parameter } = context;
  const filter = parameter("filter") ?? "";
  const { users } = await call("user list", {
    "page-size": "50",
    ...(filter !== "" && { filter }),
    ...(tenant && { tenant: String(tenant.tenantId) }),
  });
  const links = (users as readonly { readonly userId: number; readonly name: string; readonly tenant: string }[]).map(
    ({ userId, name, tenant: tenantName }) =>
      html`<li><a href="${address(path, { ...templateOf(context), user: String(userId) })}">${named(name)}</a> <span class="small"><bdi>${tenantName}</bdi></span></li>`,
  );
  return html`<h2>Whose home?</h2>
${filterForm(context, path, [{ name: "filter", label: "Name or id of a user" }])}
${links.length === 0 ? html`<p>No user fits.</p>` : html`<ul class="lines">${links}</ul>`}
<p class="small">The first 50 users that fit.</p>`;
}

async function homeOf({ call }: PageContext, user: string) {
  const [shown, { things }] = await Promise.all([call("user show", { user }), call("home things", { user })]);
  const present = (things as readonly (ShownThing & { readonly goneTime: number | null })[]).filter(
    ({ goneTime }) => goneTime === null,
  );
  return {
    userId: shown.userId as number,
    userName: shown.name as string,
    things: present,
    devices: shown.devices as UserHome["devices"],
  };
}

async function attributesOf({ callOf, call }: PageContext, user: string, draft: Draft): Promise<readonly string[]> {
  const device = deviceIn(draft);
  if (device === undefined || !callOf("home device show")) return [];
  const tried = await attempt<{ readonly attributes: readonly { readonly name: string }[] }>(
    call("home device show", { user, device }),
  );
  return tried.refused ? [] : tried.answer.attributes.map(({ name }) => name);
}

interface Previewed {
  readonly options: Options;
  readonly previewed: DryRun & { readonly sentence: string };
}

async function check(
  { call }: PageContext,
  user: string,
  draft: Draft,
): Promise<{ readonly refused: Refused } | Previewed> {
  const complete = optionsOf(draft);
  if ("refused" in complete) return complete;
  const { options } = complete;
  const input = { ...options, user, from: period, ...listsOf(options) };
  const tried = await attempt<Previewed["previewed"]>(call("home alert preview", input));
  return tried.refused ? tried : { options, previewed: tried.answer };
}

/** The options of a call that are lists or flags. */
function listsOf(options: Options): Readonly<Record<string, unknown>> {
  const lists = ["set", "command"].filter((name) => options[name] !== undefined);
  const flags = Object.keys(options).filter((name) => name.startsWith("auto-"));
  return Object.fromEntries([
    ...lists.map((name) => [name, [options[name]!]] as const),
    ...flags.map((name) => [name, true] as const),
  ]);
}

/** The sentence as the service understood it, what it would have done, and the button that makes it. */
function preview(context: PageContext, user: string, { options, previewed }: Previewed): Html {
  const { address, callOf, baseUrl, nowMs } = context;
  const call = callOf("home alert add");
  const to = address("/alerts", { user, done: "home alert add" });
  return html`<h2>This is the alert</h2>
<p class="is-sentence"><bdi>${previewed.sentence}</bdi></p>
<p>In the last 7 days:</p>
${firingsOf(previewed, nowMs)}
${
  call
    ? html`<form method="post" action="/console/do">${hiddenFields({ act: "home alert add", to, user, ...options })}
<p class="asks"><button>Make this alert</button></p></form>
${asCommand(call, { user, ...options }, baseUrl)}`
    : html`<p class="small">Your role may look, and makes no alert.</p>`
}`;
}
