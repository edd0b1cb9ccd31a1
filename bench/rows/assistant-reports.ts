import { setTimeout as sleep } from "node:timers/promises";
import type { Customer } from "../../simulator/alexa/customer.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { addDevice } from "../../src/provisioning/operator-devices.ts";
import {
  addAlexaOutlet,
  addGoogleOutlet,
  call,
  countingReceiver,
  grantAlexa,
  simulatedMakers,
  syncGoogle,
  tokensOf,
} from "../assisted-homes.ts";
import { summary } from "../comparison.ts";
import { addClient } from "../granted-client.ts";
import { MeasuredProcess } from "../measured-process.ts";
import { prepare, preparedFolder } from "../prepared-folder.ts";
import type { Result } from "../row.ts";
import { addUsers } from "../users.ts";

/** Homes in each group; each home has one lamp. */
const homes = 100;
const [warmUpRounds, measuredRounds] = [3, 9];
/** The reporter groups changes for a second. Every measured group waits as long, so that the cost of timers is equal. */
const groupingMs = 1_200;
const deadlineMs = 60_000;
const lampMap = {
  kind: "light",
  traits: { onOff: { on: { attribute: "power", words: { true: "on", false: "off" }, writable: true } } },
};
const groups = ["nobody", "webhook", "google", "alexa"] as const;
type Group = (typeof groups)[number];

interface Lamp {
  readonly deviceId: DeviceId;
  readonly token: string;
}

/**
 * The CPU that one change costs on top of the change itself, by who is told. Each group of homes changes in turn, all its
 * lamps at once.
 */
export async function reportCosts(progress: (sentence: string) => void): Promise<readonly Result[]> {
  await using finishing = new AsyncDisposableStack();
  const makers = finishing.use(await simulatedMakers());
  const receiver = finishing.use(await countingReceiver());
  const folder = finishing.use(
    preparedFolder({ BREEZEWAY_ALLOW_PRIVATE_WEBHOOKS: "true", BREEZEWAY_LOG_LEVEL: "warn" }),
  );
  progress(`${groups.length * homes} homes with a lamp`);
  const { lamps, google, alexa } = await prepare(folder, async (parts) => {
    const { tenantId } = await parts.identity.addTenant({ name: "Bench" });
    await parts.deviceTypes.set(tenantId, "Lamp", lampMap);
    const users = await parts.store.transaction((tx) => addUsers(tx, tenantId, groups.length * homes));
    const tokens = await tokensOf(parts, await addClient(parts, tenantId), users);
    const added: Lamp[] = [];
    for (const [index, userId] of users.entries()) {
      const deviceId = await addDevice(parts.store, { userId, name: "Lamp", typeName: "Lamp" });
      added.push({ deviceId, token: tokens[index]! });
    }
    const usersOf = (group: Group) => users.slice(groups.indexOf(group) * homes).slice(0, homes);
    return {
      lamps: Object.fromEntries(groups.map((group, i) => [group, added.slice(i * homes, (i + 1) * homes)])),
      google: await tokensOf(parts, await addGoogleOutlet(parts, tenantId, makers), usersOf("google")),
      alexa: await tokensOf(parts, await addAlexaOutlet(parts, tenantId, makers), usersOf("alexa")),
    };
  });
  const service = finishing.use(await MeasuredProcess.service(folder.settings));
  const { url } = service;
  const write = async ({ deviceId, token }: Lamp, power: string) => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
    const answer = await fetch(`${url}/v3/devices/${deviceId}`, {
      method: "PUT",
      headers,
      body: JSON.stringify({ power }),
    });
    if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
    await answer.arrayBuffer();
  };
  for (const { deviceId, token } of lamps.webhook!) {
    await call(url, "/v3/webhooks", { url: receiver.url, deviceIds: [deviceId], events: ["attribute"] }, token);
  }
  for (const token of google) await syncGoogle(url, makers, token);
  const customers: Customer[] = [];
  for (const token of alexa) customers.push(await grantAlexa(url, makers, token));

  const reportCounts: Readonly<Record<Group, () => number>> = {
    nobody: () => Number.POSITIVE_INFINITY,
    webhook: receiver.received,
    google: () => makers.graph.received.filter(({ method }) => method === "reportStateAndNotification").length,
    alexa: () => customers.reduce((sum, { events }) => sum + events.length, 0),
  };
  const figures = Object.fromEntries(groups.map((group) => [group, [] as number[]])) as Record<Group, number[]>;
  for (let round = 0; round < warmUpRounds + measuredRounds; round++) {
    progress(`round ${round + 1} of ${warmUpRounds + measuredRounds}`);
    for (const group of groups) {
      await sleep(groupingMs);
      const [before, reportedBefore] = [await service.usage(), reportCounts[group]()];
      const power = round % 2 === 0 ? "on" : "off";
      await Promise.all(lamps[group]!.map((lamp) => write(lamp, power)));
      await Promise.all([sleep(groupingMs), untilMore(reportCounts[group], reportedBefore + homes)]);
      const after = await service.usage();
      if (round >= warmUpRounds) figures[group].push((1_000 * (after.cpuMs - before.cpuMs)) / homes);
    }
  }
  const added = (group: Group) => figures[group].map((microseconds, round) => microseconds - figures.nobody[round]!);
  const shown = groups.map((group) => `${group} ${summary(figures[group]).figure.toFixed(0)} us`);
  progress(`CPU of one change, told to: ${shown.join(", ")}`);
  const compared = (group: Group, maker: string): Result => ({
    what: `CPU of telling ${maker} one change`,
    reference: "one webhook delivery",
    ...summary(added(group).map((microseconds, round) => microseconds / added("webhook")[round]!)),
    unit: "x",
    bar: { atMost: 1.5 },
  });
  return [
    compared("google", "Google"),
    compared("alexa", "Alexa"),
    { what: "CPU of one webhook delivery", reference: null, ...summary(added("webhook")), unit: "us", bar: null },
  ];
}

async function untilMore(count: () => number, wanted: number): Promise<void> {
  for (const untilMs = performance.now() + deadlineMs; count() < wanted; ) {
    if (performance.now() > untilMs) throw new Error(`${wanted - count()} messages are missing`);
    await sleep(5);
  }
}
