import { setTimeout as pause } from "node:timers/promises";
import type { Attack, Target } from "../attack.ts";
import {
  feedMessage,
  googleProject,
  googleSubscription,
  type HostileCloud,
  hostileCloud,
  thermostat,
} from "../hostile-cloud.ts";
import { isConnected, LinkPage, shownProblem } from "../link-page.ts";
import { linkState, shownState } from "../link-status.ts";
import { answerOf, emptyObjects, hostileAnswers, type RawAnswer, shownFate } from "../raw-answers.ts";
import type { Note } from "../sightings.ts";
import { Tallied } from "../tally.ts";

const pullPath = `/google/${googleSubscription}:pull`;
const listPath = `/google/enterprises/${googleProject}/devices`;
const tokenPath = "/google/token";
const accountUserHeader = "userid: hostile-google-account\r\n";
/** A failed pull is tried again within a second, later within 30. */
const nextPullMs = 15_000;
const forMs = 40_000;
const floodMs = 5_000;

/** Answers of Google's feed to pulls. */
export const googleFeed: Attack = {
  name: "feed of Google",
  async run(target, note) {
    const got = new Tallied();
    const cloud = await hostileCloud();
    const untilMs = performance.now() + forMs;
    for (const answer of pulls()) {
      if (performance.now() > untilMs) break;
      await playPull(target, { cloud, answer, note });
      got.add("pulls answered");
    }
    const acknowledgedBefore = cloud.acknowledged;
    const floodUntilMs = performance.now() + floodMs;
    while (performance.now() < floodUntilMs) {
      if (cloud.pulls.length < 2) cloud.pulls.push(fullPull(100));
      await pause(1);
    }
    cloud.pulls.length = 0;
    const taken = cloud.acknowledged - acknowledgedBefore;
    got.add("messages of full pulls", taken);
    const state = shownState(await linkState(target, "google"));
    const fate = `${taken} acknowledged in ${floodMs / 1_000} s (${state})`;
    note({ message: "pulls of 100 messages without a pause", size: "100 messages each", isTaken: taken > 0, fate });
    return got.tally;
  },
};

/** Answers of Google's token endpoint, and its lists of structures and devices, when a person comes back from its page. */
export const googleLists: Attack = {
  name: "lists and tokens of Google",
  async run(target, note) {
    const got = new Tallied();
    const cloud = await hostileCloud();
    const untilMs = performance.now() + forMs;
    const headers = accountUserHeader;
    const many = (count: number) => JSON.stringify({ devices: manyThermostats(count) });
    const lists = [
      answerOf("500 thermostats in 300 kB", many(500), { headers }),
      answerOf("3,000 thermostats in 1.9 MB", many(3_000), { headers }),
      ...hostileAnswers('{"devices":@}', { headers }),
    ];
    const answers = [
      ...lists.map((answer) => ["list of devices", listPath, answer] as const),
      ...hostileAnswers('{"access_token":@}').map((answer) => ["token answer of Google", tokenPath, answer] as const),
    ];
    for (const [message, path, answer] of answers) {
      if (performance.now() > untilMs) break;
      const fate = cloud.answerOnce(path, answer, 2 * nextPullMs);
      const said = await LinkPage.open(target, { mode: "renew", ecosystem: "google" })
        .then((page) => page.exchange("", () => undefined))
        .then(
          (outcome) => ({ isTaken: isConnected(outcome), shown: shownProblem(outcome) }),
          (error: Error) => ({ isTaken: false, shown: `no answer (${error.message})` }),
        );
      const late = setTimeout(() => cloud.forget(path), 500);
      const wire = await fate;
      clearTimeout(late);
      const shown = `${wire ? shownFate(wire) : "not asked for"}: ${said.shown}`;
      note({ message, size: answer.size, isTaken: said.isTaken, fate: shown });
      got.add(message);
    }
    return got.tally;
  },
};

interface Pull {
  readonly cloud: HostileCloud;
  readonly answer: RawAnswer;
  readonly note: Note;
}

async function playPull(target: Target, { cloud, answer, note }: Pull): Promise<void> {
  // A pull that is held at present ends with an empty answer.
  cloud.pulls.push({});
  const before = cloud.acknowledged;
  const fate = await cloud.answerOnce(pullPath, answer, nextPullMs);
  await cloud.requested(pullPath, 3_000);
  const state = shownState(await linkState(target, "google"));
  const acknowledged = cloud.acknowledged - before;
  const shown = fate ? `${shownFate(fate)}, ${acknowledged} acknowledged (${state})` : `no pull came (${state})`;
  note({ message: "answer to a pull", size: answer.size, isTaken: acknowledged > 0, fate: shown });
}

function fullPull(count: number): object {
  const update = { resourceUpdate: { name: thermostat("hall").name, traits: {} } };
  return { receivedMessages: Array.from({ length: count }, () => feedMessage(update)) };
}

function manyThermostats(count: number): readonly object[] {
  return Array.from({ length: count }, (_, i) => thermostat(`many-${i}`));
}

/** A message whose data, in base64, is a document of this account with many values. */
function largeMessage(bytes: number, id: string): object {
  const data = emptyObjects(bytes, `{"userId":"hostile-google-account","timestamp":"2026-01-01T00:00:00Z","x":@}`);
  return { ackId: id, message: { messageId: id, data: Buffer.from(data).toString("base64") } };
}

function pulls(): readonly RawAnswer[] {
  const messages = (count: number, bytes: number) =>
    Array.from({ length: count }, (_, i) => largeMessage(bytes, `m${count}.${i}`));
  const pull = (size: string, receivedMessages: readonly object[]) =>
    answerOf(size, JSON.stringify({ receivedMessages }));
  return [
    answerOf("100 messages", JSON.stringify(fullPull(100))),
    answerOf("1,000 messages", JSON.stringify(fullPull(1_000))),
    pull("20 messages of 60 kB of {}", messages(20, 60_000)),
    pull("1 message of 1.4 MB of {}", messages(1, 1_400_000)),
    pull("20 messages of 300 kB of {}", messages(20, 300_000)),
    ...hostileAnswers('{"receivedMessages":@}').slice(1),
    answerOf("an error of 2 MB of {}", emptyObjects(2_000_000, '{"error":@}'), { status: 500 }),
  ];
}
