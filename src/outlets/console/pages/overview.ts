import { nodeName } from "../../../model/node-name.ts";
import { type Html, html } from "../../../web/html.ts";
import { iconOf } from "../../../web/icons.ts";
import { alarmAddress, alarmSentence } from "../alarm-band.ts";
import type { ConsolePage, PageContext, ShownAlarm } from "../console-page.ts";
import { strip, total } from "../kit/strip.ts";
import { when } from "../kit/times.ts";
import { linkStates, stateWords } from "../link-state.ts";
import { length } from "../times.ts";
import {
  type BlindFigures,
  blindStrip,
  linkStrip,
  type StateFigures,
  seenShare,
  stateStrip,
  uncountedWords,
  unknownWords,
} from "./link-hours.ts";

/** What needs attention, the four steps to the first linked home, and the last 24 hours in numbers. */
export const overview: ConsolePage = {
  path: "",
  title: "Overview",
  navigationLabel: "Overview",
  subject: "tenants",
  refreshOn: ["link"],
  async render(context) {
    const { call, tenant } = context;
    const ofTenant = tenant === undefined ? {} : { tenant: String(tenant.tenantId) };
    const one = { ...ofTenant, "page-size": "1" };
    // The only tenant is chosen by itself: then the whole deployment is meant.
    const ofChosen = context.parameter("tenant") === undefined ? {} : ofTenant;
    const [clients, users, counts, needed, activity, { alarms }] = await Promise.all([
      call("client list", one),
      call("user list", one),
      call("link counts", ofTenant),
      call("attention", ofChosen),
      call("activity", ofChosen),
      context.alarms(),
    ]);
    const links = counts.states as readonly LinkCount[];
    const isDone = {
      tenant: context.tenants.length > 0,
      client: clients.clients.length > 0,
      user: users.users.length > 0,
      link: links.length > 0,
    };
    const isBegun = Object.values(isDone).every(Boolean);
    return {
      attention: attention(context, needed, alarms),
      steps: isBegun ? undefined : steps(isDone, context),
      links: linkNumbers(context, links, activity.linkStates),
      numbers: isBegun ? numbers(context, activity) : undefined,
    };
  },
};

interface LinkCount {
  readonly state: string;
  readonly count: number;
}

interface AttentionItem {
  readonly kind: string;
  readonly level: "bad" | "warn";
  readonly id: string | null;
  readonly sentence: string;
  readonly fix: string;
}

interface Needed {
  readonly findings: readonly AttentionItem[];
  readonly coversService: boolean;
}

function attention(context: PageContext, { findings, coversService }: Needed, alarms: readonly ShownAlarm[]): Html {
  const sorted = findings.toSorted((a, b) => Number(b.level === "bad") - Number(a.level === "bad"));
  return html`<h2>Needs attention</h2>
${
  sorted.length === 0
    ? html`<p class="small">Nothing ${coversService ? "that this service knows of" : "of your tenants"}.</p>`
    : html`<ul class="needs">${sorted.map((finding) => {
        const alarm = alarms.find(({ thingId }) => finding.kind === "alarm" && thingId === finding.id);
        const place = alarm ? { to: alarmAddress(alarm, context), words: "Open" } : placeOf(context, finding);
        const sentence = alarm ? alarmSentence(alarm, context.nowMs) : finding.sentence;
        return html`<li class="${finding.level}">${iconOf(finding.level === "bad" ? "warning" : "clock")}<span><strong>${sentence}</strong> <span class="soft">${finding.fix}</span></span>${
          place &&
          html`<a class="button" href="${place.to}" aria-label="${place.words}: ${finding.sentence}">${place.words}</a>`
        }</li>`;
      })}</ul>`
}
${coversService ? undefined : html`<p class="small">Disk, certificate, keys and nodes are shown to those who run the whole service.</p>`}`;
}

/** Where the operator does something about a finding. */
function placeOf(
  { address, callOf }: PageContext,
  { kind, id }: AttentionItem,
): { to: string; words: string } | undefined {
  if (kind === "alarm") return { to: address("/homes", { alarm: "true" }), words: "Show them" };
  if (kind.startsWith("link_")) return { to: address("/homes", { state: kind.slice(5) }), words: "Show them" };
  if (kind.startsWith("webhook_")) return { to: address(id === null ? "/webhooks" : `/webhooks/${id}`), words: "Open" };
  if (kind === "assistant_failing") return { to: address(`/assistants/${id}`), words: "Open" };
  if (kind === "backup" && callOf("backup")) return { to: address("/system", { do: "backup" }), words: "Back up" };
  if (kind === "alert_limit") return { to: address("/alerts"), words: "Show alerts" };
  return { to: address("/system"), words: "Open System" };
}

type Step = "tenant" | "client" | "user" | "link";

function steps(isDone: Readonly<Record<Step, boolean>>, { address, callOf }: PageContext): Html {
  const step = (done: boolean, title: string, act: string, to: string, words: string) =>
    html`<li${done ? html` class="is-done"` : undefined}>${iconOf(done ? "check" : "clock")}<span>${title}</span>${
      done ? html`<span class="small">done</span>` : callOf(act) && html`<a class="button" href="${to}">${words}</a>`
    }</li>`;
  return html`<h2>Four steps to the first home</h2>
<ol class="steps">
${step(isDone.tenant, "Add a tenant, the company whose users are served", "tenant add", address("/tenants", { do: "add" }), "Add a tenant")}
${step(isDone.client, "Register a client, the cloud that asks users for access", "client add", address("/clients", { do: "add" }), "Register a client")}
${step(isDone.user, "Add a user, the person whose home it is", "user add", address("/users", { do: "add" }), "Add a user")}
${step(isDone.link, "Connect the user's home: open the user, and make a link page for them", "home page", address("/users"), "Choose the user")}
</ol>`;
}

function linkNumbers({ address }: PageContext, links: readonly LinkCount[], past: StateFigures): Html | undefined {
  if (links.length === 0) return undefined;
  const place = (state: string) => linkStates.indexOf(state);
  const present = new Map(links.map(({ state, count }) => [state, count]));
  const states = [...new Set([...present.keys(), ...past.states.map(({ state }) => state)])];
  const unknown = uncountedWords(past);
  return html`<h2>Links</h2>
<dl class="numbers">${states
    .toSorted((a, b) => place(a) - place(b))
    .map((state) => {
      const [words, count] = [stateWords(state), present.get(state) ?? 0];
      return html`<div><dt>${words}</dt><dd><a href="${address("/homes", { state })}">${count}</a></dd><dd>${stateStrip(words, state, count, past)}</dd></div>`;
    })}</dl>
${unknown && html`<p class="small">${unknown}</p>`}`;
}

interface Figures {
  readonly signIns: readonly number[];
  readonly failedSignIns: readonly number[];
  readonly delivered: readonly number[];
  readonly failed: readonly number[];
  readonly blind: BlindFigures;
  readonly changes?: readonly number[];
  readonly countedSince?: string;
  readonly silentNodes?: readonly string[];
}

function numbers({ nowMs }: PageContext, shown: Figures): Html {
  const { signIns, failedSignIns, delivered, failed, blind, changes, countedSince, silentNodes = [] } = shown;
  const figure = (title: string, value: string | number, more: string, drawn?: Html) =>
    html`<div><dt>${title}</dt><dd>${value}</dd><dd class="small">${more}</dd>${drawn && html`<dd>${drawn}</dd>`}</div>`;
  return html`<h2>The last 24 hours</h2>
<dl class="numbers">
${figure("Sign-ins", total(signIns), `${total(failedSignIns)} failed`, strip("Sign-ins", signIns, failedSignIns))}
${figure("Deliveries to webhooks", total(delivered), `${total(failed)} failed attempts`, strip("Deliveries", delivered, failed))}
${changes && figure("Changes of attributes", total(changes), "on all nodes", strip("Changes of attributes", changes))}
${figure("Blind time", length(blind.ms / 1_000), `of ${blind.blindLinks} of ${blind.isAll ? "" : "the first "}${blind.links} links`, blindStrip(blind))}
${figure("Links that were seen", seenShare(blind), unknownWords(blind), linkStrip(blind))}
</dl>
<p class="small">Of each webhook the last 1,000 deliveries count.${
    countedSince && html` Changes are counted in full since ${when(countedSince, nowMs)}.`
  }${silentNodes.length === 0 ? undefined : html` <strong>Not counted, because they did not answer: ${silentNodes.map(nodeName).join(", ")}.</strong>`}</p>`;
}
