import { setTimeout as pause } from "node:timers/promises";
import { accountOf, feedMessage, hostileCloud, thermostat } from "./hostile-cloud.ts";
import { hostileEcosystem, put, writeAndDrain } from "./hostile-ecosystem.ts";
import { type HostileSession, hostileHomeAssistant, lightId } from "./hostile-home-assistant.ts";

/**
 * Runs as a child process: hundreds of accounts, all hostile. Each plays one of its kind's behaviours, once a second on
 * average. It ends with its parent.
 */
export type LinksOrder = { readonly kind: HostileKind } | { readonly step: "address" | "played" };

export interface LinksReply {
  /** The address of the Home Assistant. */
  readonly address?: string;
  /** How often each behaviour was played. */
  readonly played?: Readonly<Record<string, number>>;
}

export const hostileKinds = ["home-assistant", "nest", "google"] as const;
export type HostileKind = (typeof hostileKinds)[number];

const everyMs = 1_000;
const played: Record<string, number> = {};
let round = 0;

process.on("disconnect", () => process.exit());
process.on("message", async (order: LinksOrder) => {
  if ("kind" in order) void floods[order.kind]();
  const address = (await hostileHomeAssistant()).url;
  process.send?.({ address, played } satisfies LinksReply);
});
process.send?.({ url: (await hostileCloud()).url });

const floods: Readonly<Record<HostileKind, () => Promise<void>>> = {
  "home-assistant": floodHomeAssistants,
  nest: floodStreams,
  google: floodFeed,
};

/** Calls `play` about once a second for each of the connections, evenly over the second. */
async function forEach<Connection>(
  connections: () => Iterable<Connection>,
  play: (connection: Connection, place: number) => Promise<string>,
): Promise<void> {
  for (;;) {
    const all = [...connections()];
    const startedMs = performance.now();
    for (const [place, connection] of all.entries()) {
      round += 1;
      const what = await play(connection, place);
      played[what] = (played[what] ?? 0) + 1;
      const dueMs = startedMs + (everyMs * (place + 1)) / all.length;
      if (place % 10 === 9 && performance.now() < dueMs) await pause(dueMs - performance.now());
    }
    await pause(Math.max(10, startedMs + everyMs - performance.now()));
  }
}

/** New names in every round. */
const names = (count: number) => Array.from({ length: count }, (_, i) => `${round.toString(36)}_${i}`);
const fat = "x".repeat(1_000);

async function floodHomeAssistants(): Promise<void> {
  const { sessions } = await hostileHomeAssistant();
  const behaviours: Readonly<Record<string, (session: HostileSession) => unknown>> = {
    "new entities": (session) =>
      session.event({ a: Object.fromEntries(names(50).map((name) => [`sensor.${name}`, { s: "on" }])) }),
    "new attributes": (session) =>
      session.event({ c: { [lightId(0)]: { "+": { a: Object.fromEntries(names(20).map((name) => [name, fat])) } } } }),
    "new texts": (session) =>
      session.event({ c: { [lightId(0)]: { "+": { a: { friendly_name: `${round} ${fat}` } } } } }),
    "new contexts": (session) =>
      session.event({ c: { [lightId(0)]: { "+": { s: round % 2 === 0 ? "on" : "off", c: `${round} ${fat}` } } } }),
    "results of no call": (session) =>
      session.send(`[${names(50).map((_, i) => `{"id":${1_000_000 + round + i},"type":"result","success":true}`)}]`),
    "a message that never ends": (session) => session.send(fat, { fin: false }),
    "an end of the connection": (session) => round % 10 === 0 && session.raw.destroy(),
    "frames of pings": (session) => session.socket.ping(fat.slice(0, 100)),
  };
  await forEach(
    () => [...sessions].filter(({ isFollowing, subscription }) => isFollowing && subscription !== undefined),
    async (session) => {
      const [what, act] = chosen(behaviours, Number(session.token.replace(/\D/g, "")));
      if (!session.hasEnded && session.raw.writableLength < 1_048_576) await act(session);
      return what;
    },
  );
}

async function floodStreams(): Promise<void> {
  const { streams } = hostileEcosystem;
  const thermostats = (ids: readonly string[], more: object = {}) => {
    const all = ids.map((id) => [id, { device_id: id, name: `Room ${round}`, structure_id: "home", ...more }]);
    const structures = { home: { structure_id: "home", name: `Home ${round}`, away: "home" } };
    return put({ devices: { thermostats: Object.fromEntries(all), smoke_co_alarms: {} }, structures });
  };
  const behaviours: Readonly<Record<string, () => string>> = {
    "new thermostats": () => thermostats(names(20)),
    "new members": () => thermostats(["one"], Object.fromEntries(names(20).map((name) => [name, fat]))),
    "new names": () => thermostats(["one"], { name: `${round} ${fat}` }),
    "a part of the account": () => `event: put\ndata: {"path":"/devices/${round}","data":{}}\n\n`,
    "a line that never ends": () => fat,
    "events of an unknown type": () => `event: ${round}\nid: ${fat}\ndata: ${fat}\n\n`,
    comments: () => `: ${fat}\n`,
    "an end of the connection": () => "",
  };
  const places = new WeakMap<object, number>();
  let opened = 0;
  await forEach(
    () => streams,
    async (stream) => {
      // Streams have no token here: each keeps the behaviour of its first round.
      if (!places.has(stream)) places.set(stream, opened++);
      const [what, text] = chosen(behaviours, places.get(stream)!);
      if (what === "an end of the connection" && round % 10 === 0) stream.destroy();
      else if (!stream.destroyed && stream.writableLength < 1_048_576) void writeAndDrain(stream, text());
      return what;
    },
  );
}

async function floodFeed(): Promise<void> {
  const cloud = await hostileCloud();
  const deviceName = thermostat("hall").name;
  cloud.listFor = () => [thermostat("hall"), ...names(20).map(thermostat)];
  const traits = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [`sdm.devices.traits.${name}`, { fat }]));
  const behaviours: Readonly<Record<string, () => object>> = {
    "new traits": () => ({ resourceUpdate: { name: deviceName, traits: traits(names(5)) } }),
    "new devices": () => ({ resourceUpdate: { name: `${deviceName}-${round}`, traits: traits(["Info"]) } }),
    "new relations": () => ({ relationUpdate: { type: "CREATED", subject: fat, object: `${deviceName}-${round}` } }),
    "events from the future": () => ({
      timestamp: "2099-01-01T00:00:00Z",
      resourceUpdate: { name: deviceName, traits: {} },
    }),
    "events of no kind": () => ({ [`x${round}`]: fat }),
    "large events": () => ({ resourceUpdate: { name: deviceName, traits: traits(names(50)) } }),
  };
  const accounts = Array.from({ length: Number(process.argv[2] ?? 500) }, (_, i) => i);
  await forEach(
    () => accounts,
    async (account) => {
      const [what, content] = chosen(behaviours, account);
      const message = feedMessage(content(), `m${round}`, accountOf(`many-${account}`));
      // One pull for ten messages; those of a service that pulls too slowly are left out.
      const last = cloud.pulls.at(-1) as { receivedMessages: object[] } | undefined;
      if (last && last.receivedMessages.length < 10) last.receivedMessages.push(message);
      else if (cloud.pulls.length < 100) cloud.pulls.push({ receivedMessages: [message] });
      return what;
    },
  );
}

function chosen<Act>(behaviours: Readonly<Record<string, Act>>, place: number): readonly [string, Act] {
  const all = Object.entries(behaviours);
  return all[place % all.length]!;
}
