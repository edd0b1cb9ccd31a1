import type { Attack } from "../attack.ts";
import { type Dose, linkHome, playDoses } from "../home-assistant-doses.ts";
import { type HostileSession, honest, hostileHomeAssistant, lightId } from "../hostile-home-assistant.ts";
import { isConnected, LinkPage, shownProblem } from "../link-page.ts";
import { deepList, emptyObjects, hostileAnswers } from "../raw-answers.ts";

/** Every other message that an instance can send, in sizes and numbers that no honest one sends. */
export const homeAssistantMessages: Attack = {
  name: "messages of a Home Assistant",
  prepare: linkHome,
  async run(target, note) {
    return { "messages sent": await playDoses(target, doses, { note, forMs: 45_000 }) };
  },
};

/** Answers of the token endpoint, when a person comes back from the consent page. */
export const homeAssistantTokens: Attack = {
  name: "token answers of a Home Assistant",
  prepare: linkHome,
  async run(target, note) {
    const instance = await hostileHomeAssistant();
    let answers = 0;
    for (const tokens of hostileAnswers('{"access_token":@}')) {
      instance.play(honest);
      const startedMs = performance.now();
      const fate = await LinkPage.open(target, { mode: "renew" })
        .then((page) => page.exchange(instance.url, () => instance.play({ tokens })))
        .then(
          (outcome) => ({ isTaken: isConnected(outcome), shown: shownProblem(outcome) }),
          (error: Error) => ({ isTaken: false, shown: `no answer (${error.message})` }),
        );
      const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
      const { isTaken, shown } = fate;
      note({
        message: "token answer of an instance",
        size: tokens.size,
        isTaken,
        fate: `${shown}, after ${seconds} s`,
      });
      answers += 1;
    }
    instance.play(honest);
    return { "token answers": answers };
  },
};

const result = (id: number) => `{"id":${id},"type":"result","success":true}`;
const coalesced = (count: number, message: (place: number) => string) =>
  `[${Array.from({ length: count }, (_, place) => message(place)).join(",")}]`;
const event = (id: number | undefined, body: string) => `{"id":${id},"type":"event","event":${body}}`;

function repeat(count: number, act: (session: HostileSession, place: number) => void) {
  return async (session: HostileSession) => {
    for (let place = 0; place < count && !session.hasEnded; place++) {
      act(session, place);
      if (place % 1_000 === 999) await session.drained();
    }
  };
}

async function withoutPause(session: HostileSession): Promise<void> {
  const frameOfMany = coalesced(100_000, (place) => `{"id":${place % 10}}`);
  const untilMs = performance.now() + 5_000;
  while (!session.hasEnded && performance.now() < untilMs) await session.send(frameOfMany);
}

/** A frame of a WebSocket server: `first` is the byte with FIN and the type. */
function frame(first: number, payload = ""): Buffer {
  return Buffer.concat([Buffer.from([first, payload.length]), Buffer.from(payload)]);
}

const [unfinishedText, continuation, lastContinuation] = [0x01, 0x00, 0x80];

/** A message in pieces; `isEnded`: its last piece comes. */
function fragments(count: number, payload: string, isEnded: boolean) {
  const many = Buffer.concat(Array.from({ length: 10_000 }, () => frame(continuation, payload)));
  return async (session: HostileSession) => {
    await session.write(frame(unfinishedText, "["));
    for (let sent = 0; sent < count && !session.hasEnded; sent += 10_000) await session.write(many);
    if (isEnded) await session.write(frame(lastContinuation, "]"));
  };
}

const doses: readonly Dose[] = [
  { message: "ping frames", size: "100,000", send: repeat(100_000, ({ socket }) => socket.ping("x".repeat(100))) },
  { message: "pong frames", size: "100,000", send: repeat(100_000, ({ socket }) => socket.pong("x".repeat(100))) },
  {
    message: "results with unknown ids",
    size: "20,000 frames",
    send: repeat(20_000, ({ socket }, place) => socket.send(result(1_000_000 + place))),
  },
  {
    message: "results with unknown ids",
    size: "20,000 in a frame",
    send: (session) => session.send(coalesced(20_000, (place) => result(1_000_000 + place))),
  },
  {
    message: "small messages in a frame",
    size: "100,000",
    send: (session) => session.send(coalesced(100_000, (place) => `{"id":${place % 10}}`)),
  },
  { message: "small messages in a frame", size: "100,000, for 5 s without a pause", send: withoutPause },
  {
    message: "small messages in frames",
    size: "100,000 frames",
    send: repeat(100_000, ({ socket }) => socket.send('{"id":0}')),
  },
  {
    message: "failure of a subscription",
    size: "one, unsolicited",
    send: (session) => session.send(`{"id":${session.subscription},"type":"result","success":false}`),
  },
  {
    message: "result of a call",
    size: "2 MB of {}",
    send: (session) => session.send(`{"id":1,"type":"result","success":true,"result":${emptyObjects(1_900_000)}}`),
  },
  {
    message: "event",
    size: "2 MB of {}",
    send: (session) => session.send(event(session.subscription, `{"a":{"${lightId(0)}":${emptyObjects(1_900_000)}}}`)),
  },
  {
    message: "event",
    size: "100,000 levels",
    send: (session) => session.send(event(session.subscription, deepList(100_000))),
  },
  {
    message: "event",
    size: "2 MB of members",
    send: (session) => {
      const members = Array.from({ length: 150_000 }, (_, i) => `"${i.toString(36)}":{}`).join(",");
      return session.send(event(session.subscription, `{"c":{${members}}}`));
    },
  },
  {
    message: "event",
    size: "3 MB of text",
    send: (session) =>
      session.send(event(session.subscription, `{"a":{"${lightId(0)}":{"s":"${"x".repeat(3_000_000)}"}}}`)),
  },
  { message: "binary message", size: "1 byte", send: (session) => session.send(Buffer.from("x"), { binary: true }) },
  { message: "fragments of 1 byte", size: "10,000", send: fragments(10_000, " ", true) },
  { message: "fragments of 1 byte", size: "2,000,000 without an end", send: fragments(2_000_000, " ", false) },
  { message: "fragments of 0 bytes", size: "2,000,000 without an end", send: fragments(2_000_000, "", false) },
  {
    message: "announced frame",
    size: "16 MB of which nothing comes",
    limitMs: 2_000,
    send: (session) => session.write(Buffer.from([0x81, 127, 0, 0, 0, 0, 0x00, 0xff, 0xff, 0xff])),
  },
  {
    message: "close frame",
    size: "with a reason of 123 bytes",
    send: async ({ socket }) => socket.close(4_000, "r".repeat(123)),
  },
];
