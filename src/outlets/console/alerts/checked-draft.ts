import { type Html, html } from "../../../web/html.ts";
import { hiddenFields } from "../../../web/page.ts";
import type { PageContext } from "../console-page.ts";
import { asCommand } from "../kit/as-command.ts";
import { attempt, type Refused } from "../kit/refused.ts";
import type { ShownThing } from "../tiles/shown-thing.ts";
import { type Draft, deviceIn, type Options, optionsOf } from "./draft.ts";
import type { UserHome } from "./editor.ts";
import { type DryRun, firingsOf } from "./firings.ts";

const period = "7d";

/** What the user has that an alert can be about. */
export async function homeOf({ call }: PageContext, user: string) {
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

export async function attributesOf(
  { callOf, call }: PageContext,
  user: string,
  draft: Draft,
): Promise<readonly string[]> {
  const device = deviceIn(draft);
  if (device === undefined || !callOf("home device show")) return [];
  const tried = await attempt<{ readonly attributes: readonly { readonly name: string }[] }>(
    call("home device show", { user, device }),
  );
  return tried.refused ? [] : tried.answer.attributes.map(({ name }) => name);
}

export interface Previewed {
  readonly options: Options;
  readonly previewed: DryRun & { readonly sentence: string };
}

/** The draft as the service reads it, with what it would have done, or what is wrong with it. */
export async function check(
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

/** The sentence as the service understood it, what it would have done, and the button that makes or changes it. */
export function preview(
  { callOf, baseUrl, nowMs }: PageContext,
  { act, to, input, words }: { act: string; to: string; input: Options; words: string },
  { options, previewed }: Previewed,
): Html {
  const call = callOf(act);
  const sent = { ...input, ...options };
  return html`<h2>This is the alert</h2>
<p class="is-sentence"><bdi>${previewed.sentence}</bdi></p>
<p>In the last 7 days:</p>
${firingsOf(previewed, nowMs)}
${
  call
    ? html`<form method="post" action="/console/do">${hiddenFields({ act, to, ...sent })}
<p class="asks"><button>${words}</button></p></form>
${asCommand(call, sent, baseUrl)}`
    : html`<p class="small">Your role may look, and changes no alert.</p>`
}`;
}
