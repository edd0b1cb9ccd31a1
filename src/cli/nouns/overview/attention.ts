import { waitingInWords } from "../../../events/webhooks/webhook-administration.ts";
import { alarmPlace, alarmWords } from "../../../home/sounding.ts";
import type { TenantId } from "../../../model/ids.ts";
import type { AdminCommand, AdministrationParts, Answer } from "../../administration/admin-command.ts";
import { secondOf } from "../../devices/times.ts";
import type { Noun } from "../../noun.ts";
import { counted } from "../../terminal/output.ts";
import { readAlarms } from "../home/home-alarms.ts";
import { chosenTenant, tenantNames, withTenantOption } from "../tenant-option.ts";
import { type AttentionItem, ofDeployment } from "./attention-deployment.ts";

/** Alarms that are named one by one. */
const alarmsNamed = 10;
/** Webhooks of each kind that are named one by one. */
const webhooksNamed = 10;

const show: AdminCommand = {
  name: "attention",
  meaning: "show what needs attention, each with what to do",
  examples: ["attention", "attention --tenant Acme --json"],
  options: withTenantOption,
  async act(parts, input) {
    const tenantId = await chosenTenant(parts.identity, input);
    const tenantIds = tenantId === undefined ? undefined : [tenantId];
    const counts = await parts.linkCounts(tenantIds);
    const findings = [
      ...(await ofAlarms(parts, tenantIds)),
      ...ofLinks(counts),
      ...(await ofWebhooks(parts, tenantIds)),
      ...(await ofAssistants(parts, tenantId)),
      ...(await ofDeployment(parts, counts.size > 0)),
    ];
    // Those of the deployment are left out for an operator who does not reach it.
    return { answer: { findings, coversService: parts.deployment !== undefined } };
  },
  toText({ findings, coversService }) {
    const lines = (findings as AttentionItem[]).map(
      ({ kind, sentence, fix }) => `${sentence}\n  → ${commandFixes[kind] ?? fix}`,
    );
    if (lines.length > 0) return lines.join("\n");
    return coversService ? "Nothing needs attention." : "Nothing of your tenants needs attention.";
  },
  exitCode: ({ findings }: Answer) => (findings.some(({ level }: AttentionItem) => level === "bad") ? 1 : 0),
};

/** What to do on the command line, where the console has a button. */
const commandFixes: Readonly<Record<string, string>> = {
  backup:
    "Back up with: breezeway backup --to FILE. Record a backup that you took with other tools with: breezeway backed-up",
};

/** A fire comes before everything else. */
async function ofAlarms(
  parts: AdministrationParts,
  tenantIds: readonly TenantId[] | undefined,
): Promise<readonly AttentionItem[]> {
  const { alarms, isComplete } = await readAlarms(parts, tenantIds);
  const findings: AttentionItem[] = alarms.slice(0, alarmsNamed).map((alarm) => ({
    ...{ kind: "alarm", level: "bad", count: null, id: alarm.thingId },
    sentence: `${alarmWords(alarm)}: ${alarmPlace(alarm)}, of ${alarm.userName}${alarm.stale ? `, as of ${asOf(alarm.confirmedTime)}` : ""}.`,
    fix: alarm.stale ? "Its present state is unknown. Reach the people in the home." : "Reach the people in the home.",
  }));
  if (alarms.length > alarmsNamed) {
    const more = alarms.length - alarmsNamed;
    const sentence = `${isComplete ? more : `At least ${more}`} more alarms sound.`;
    findings.push({
      kind: "alarm",
      level: "bad",
      count: more,
      id: null,
      sentence,
      fix: "See all with: breezeway home alarms",
    });
  }
  return findings;
}

const asOf = (confirmedMs: number | null) => (confirmedMs === null ? "an unknown time" : secondOf(confirmedMs));

/** What to do about links of each state that needs something. */
const linkFixes: Readonly<Record<string, Pick<AttentionItem, "level" | "fix"> & { readonly words: string }>> = {
  needs_reauth: {
    level: "bad",
    words: "needs a new consent|need a new consent",
    fix: "Send the user a link page: open the home and choose Connect again, or run breezeway link page --renew.",
  },
  not_followed: {
    level: "bad",
    words: "is followed by no node|are followed by no node",
    fix: "Start a node. Until then the values are those of the last confirmation.",
  },
  stale: {
    level: "warn",
    words: "is stale|are stale",
    fix: "The ecosystem has confirmed nothing for 15 minutes. Look at the reason of each link, and at the ecosystem's status.",
  },
  waiting: {
    level: "warn",
    words: "waits for its ecosystem|wait for their ecosystems",
    fix: "The node tries again by itself. The reason of each link says why it waits.",
  },
};

function ofLinks(counts: ReadonlyMap<string, number>): readonly AttentionItem[] {
  return Object.entries(linkFixes).flatMap(([state, { words, ...fix }]) => {
    const count = counts.get(state) ?? 0;
    if (count === 0) return [];
    const [one, many] = words.split("|");
    const sentence = `${counted(count, "link")} ${count === 1 ? one : many}.`;
    return [{ kind: `link_${state}`, count, id: null, sentence, ...fix }];
  });
}

async function ofWebhooks(
  { webhooks, clients }: AdministrationParts,
  tenantIds: readonly TenantId[] | undefined,
): Promise<readonly AttentionItem[]> {
  const findings: AttentionItem[] = [];
  for (const only of ["failing", "paused"] as const) {
    const found = await webhooks.list({ tenantIds, only, afterId: "", limit: webhooksNamed + 1 });
    if (found.length === 0) continue;
    const names = new Map((await clients.listClients()).map(({ id, name }) => [id, name]));
    for (const { webhook, url, waiting, recent, nextRetry } of found.slice(0, webhooksNamed)) {
      const whose = `The webhook ${url || webhook.id} of ${names.get(webhook.clientId) ?? webhook.clientId}`;
      // The message that is retried may be older than all recent ones.
      const last = nextRetry?.text ?? recent.find(({ text }) => text !== null)?.text ?? "no answer";
      findings.push(
        only === "failing"
          ? {
              ...{ kind: "webhook_failing", level: "bad", count: waiting, id: webhook.id },
              sentence: `${whose} fails: ${last}. Messages that wait: ${waitingInWords(waiting)}.`,
              fix: "Tell the client's people. When the receiver works again, open the webhook and choose Try now, or run breezeway hook resend-since with its id.",
            }
          : {
              ...{ kind: "webhook_paused", level: "warn", count: waiting, id: webhook.id },
              sentence: `${whose} is paused. Messages that wait: ${waitingInWords(waiting)}.`,
              fix: "Resume it when the receiver is ready.",
            },
      );
    }
    if (found.length > webhooksNamed) {
      const sentence = `More than ${webhooksNamed} webhooks are ${only}.`;
      const more = { kind: `webhook_${only}`, level: "bad", count: null, id: null } as const;
      findings.push({ ...more, sentence, fix: "See all with: breezeway hook list" });
    }
  }
  return findings;
}

async function ofAssistants(
  { assistants, identity }: AdministrationParts,
  tenantId: TenantId | undefined,
): Promise<readonly AttentionItem[]> {
  const failing = new Map((await assistants.grants.failing()).map((one) => [one.outletId, one]));
  if (failing.size === 0) return [];
  const names = await tenantNames(identity);
  return (await assistants.outlets.list(tenantId)).flatMap(({ id, kind, tenantId: of }) => {
    const found = failing.get(id);
    if (!found) return [];
    const users = counted(Number(found.users), "user");
    return [
      {
        ...({ kind: "assistant_failing", level: "bad", count: Number(found.users), id } as const),
        sentence: `Reports of ${users} to ${kind} of ${names.get(of) ?? of} fail: ${found.problem}`,
        fix: "Check the outlet. A user whose link has ended there must link the account again.",
      },
    ];
  });
}

export const attention: Noun = { name: "attention", meaning: show.meaning, commands: [show] };
