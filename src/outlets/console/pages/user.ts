import { type Html, html } from "../../../web/html.ts";
import { named } from "../../../web/page.ts";
import type { ConsolePage, PageContext } from "../console-page.ts";
import { type Ask, askLinks, openAsk, typed } from "../kit/ask.ts";
import { endGrant, grantsPart } from "../kit/grants.ts";
import { accessState } from "../kit/state.ts";
import { factsOf, tableOf } from "../kit/table.ts";
import { readOnce, when } from "../kit/times.ts";
import { stateBadge } from "../link-state.ts";

interface ShownLink {
  readonly ecosystem: string;
  readonly deviceId: number;
  readonly state: string;
  readonly reason: string;
  readonly confirmedTime: number;
}

interface ShownUser {
  readonly userId: number;
  readonly name: string;
  readonly admin: boolean;
  readonly suspended: boolean;
  readonly tenant: string;
  readonly created: string;
  readonly devices: readonly {
    readonly deviceId: number;
    readonly deviceName: string;
    readonly deviceTypeName: string;
  }[];
  readonly links: readonly ShownLink[];
}

/** One user: links, devices, and the apps that have access. */
export const user: ConsolePage = {
  path: "/users/:user",
  title: "User",
  subject: "tenants",
  // Entries of the audit log are examined for it.
  partsNotRefreshed: ["signIns"],
  async render(context) {
    const { call, address, nowMs, parameter, wants } = context;
    const shown: ShownUser = await call("user show", { user: parameter("user") });
    const here = `/users/${shown.userId}`;
    const of = { user: String(shown.userId) };
    const asks = asksOf(context, shown);
    return {
      ask: openAsk(context, here, [...asks, endGrant(of, parameter("grant") ?? "")]),
      user: html`<p><a href="${address("/users")}">All users</a></p>
<h2>${named(shown.name)}</h2>
${factsOf([
  ["User", shown.userId],
  ["State", accessState(shown)],
  ["Tenant", html`<bdi>${shown.tenant}</bdi>`],
  ["Consents", shown.admin ? "for the tenant" : "for themselves"],
  ["Added", when(shown.created, nowMs)],
])}
${askLinks(context, here, asks)}`,
      signIns: wants("signIns") ? await signInFacts(context, of) : undefined,
      links: html`<h2>Connected homes</h2>
${
  shown.links.length === 0
    ? html`<p>None.</p>`
    : tableOf<ShownLink>(
        "Connected homes",
        [
          {
            title: "Ecosystem",
            cell: ({ ecosystem }) =>
              html`<a href="${address(`/homes/${shown.userId}/${encodeURIComponent(ecosystem)}`)}">${ecosystem}</a>`,
          },
          { title: "State", cell: ({ state: known, reason }) => html`${stateBadge(known)} ${reason}` },
          { title: "Confirmed", cell: ({ confirmedTime }) => when(confirmedTime || null, nowMs) },
          { title: "Device", cell: ({ deviceId }) => deviceId },
        ],
        shown.links,
      )
}`,
      access: html`<h2>Apps with access</h2>
${await grantsPart(context, here, of)}`,
      devices: html`<h2>Devices</h2>
${
  shown.devices.length === 0
    ? html`<p>None.</p>`
    : tableOf<ShownUser["devices"][number]>(
        "Devices",
        [
          {
            title: "Name",
            cell: ({ deviceId, deviceName }) =>
              html`<a href="${address(`/devices/${shown.userId}/${deviceId}`)}">${named(deviceName)}</a>`,
          },
          { title: "Type", cell: ({ deviceTypeName }) => html`<bdi>${deviceTypeName}</bdi>` },
          { title: "Device", cell: ({ deviceId }) => deviceId },
        ],
        shown.devices.slice(0, shownDevices),
      )
}
${shown.devices.length > shownDevices ? html`<p class="small">${shown.devices.length - shownDevices} more are not shown.</p>` : undefined}`,
    };
  },
};

const shownDevices = 50;
const failuresShown = 50;
const hourMs = 3_600_000;

async function signInFacts({ call, nowMs }: PageContext, of: { readonly user: string }): Promise<Html> {
  const last = await call("audit list", { ...of, act: "sign_in", "page-size": "1" });
  const failed = await call("audit list", { ...of, act: "sign_in_failed", "page-size": String(failuresShown) });
  const none =
    last.cursor === undefined
      ? "none in the audit log of the last year"
      : "none among the last entries of the audit log";
  return html`<h2>Sign-ins</h2>
${factsOf([
  ["Last sign-in", when(last.entries[0]?.time, nowMs, none)],
  ["Failed sign-ins", failedWords(failed.entries, nowMs)],
])}
${readOnce(nowMs)}`;
}

/** Failed sign-ins delay the next one, for an hour at most: `user unlock` forgets them. */
function failedWords(entries: readonly { readonly time: string }[], nowMs: number): string {
  const { length } = entries.filter(({ time }) => nowMs - Date.parse(time) < hourMs);
  if (length === 0) return "none in the last hour";
  return `${length === failuresShown ? `${failuresShown} or more` : length} in the last hour; after five, each one delays the next`;
}

function asksOf({ address, ecosystems }: PageContext, { userId, name, suspended }: ShownUser): readonly Ask[] {
  const input = { user: String(userId) };
  return [
    {
      name: "link",
      act: "home page",
      link: "Connect a home",
      title: "Connect a home",
      words: html`Makes a page for one use, on which ${named(name)} signs in and connects the account. Its address is shown once.`,
      input,
      fields: typed({
        option: "ecosystem",
        label: "Ecosystem",
        value: ecosystems[0] ?? "",
        choices: ecosystems.map((one) => [one, one] as const),
      }),
      example: { ...input, ecosystem: ecosystems[0] ?? "NAME" },
      button: "Make the page",
      afterwards: address(`/users/${userId}`),
    },
    {
      name: "password",
      act: "user set-password",
      link: "Set the password",
      title: "Set the password",
      words: html`${named(name)} is signed out everywhere, and all apps lose their access.`,
      input,
      fields: typed({
        option: "password",
        label: "New password",
        hint: "8 to 60 characters.",
        type: "password",
        isRequired: true,
        isFirst: true,
      }),
      example: { ...input, password: "" },
      button: "Set the password",
      isGrave: true,
    },
    {
      name: "unlock",
      act: "user unlock",
      link: "Unlock",
      title: "Unlock the user",
      words: "Failed sign-ins with this name are forgotten, so that the user may try again at once.",
      input,
      button: "Unlock",
    },
    suspended
      ? {
          name: "resume",
          act: "user resume",
          link: "Resume",
          title: "Resume the user",
          words: html`${named(name)} may sign in again, and all apps have their access again.`,
          input,
          button: "Resume",
        }
      : {
          name: "suspend",
          act: "user suspend",
          link: "Suspend",
          title: "Suspend the user",
          words: html`${named(name)} can't sign in. Tokens of all apps with access are refused on every node within a second, streams end, and messages to webhooks and assistants wait. Nothing is deleted, and linked homes go on: a resume brings all access back.`,
          input,
          button: "Suspend",
          isGrave: true,
        },
    {
      name: "remove",
      act: "user remove",
      link: "Remove",
      title: "Remove the user",
      words: html`${named(name)} is removed with links, devices, history and all access of apps. This can't be undone.`,
      input,
      button: "Remove",
      isGrave: true,
      afterwards: address("/users", { done: "user remove" }),
    },
  ];
}
