import assert from "node:assert/strict";
import type { Attack, Target } from "../attack.ts";
import { linkHome, playDoses } from "../home-assistant-doses.ts";
import { honest, hostileHomeAssistant } from "../hostile-home-assistant.ts";
import { LinkPage, shownProblem } from "../link-page.ts";
import { deepList, emptyObjects, hostileAnswers } from "../raw-answers.ts";
import type { Note } from "../sightings.ts";
import { Tallied } from "../tally.ts";

const padded = '{"type":"auth_required","ha_version":"2026.1.0","padding":@}';
/** The largest comes second: later ones may be left out when the time is up. */
const greetings = [
  ["60 kB of {}", () => emptyObjects(60_000, padded)],
  ["16.7 MB of {}", () => emptyObjects(16_700_000, padded)],
  ["1 MB of {}", () => emptyObjects(1_000_000, padded)],
  ["100,000 levels", () => deepList(100_000, padded)],
] as const;

/** Greetings before any token is checked, on a linked home and at the address that a link page was given. */
export const homeAssistantGreetings: Attack = {
  name: "greetings of a Home Assistant",
  prepare: linkHome,
  async run(target, note) {
    const got = new Tallied();
    const doses = greetings.map(([size, greeting]) => ({
      message: "greeting of a linked home",
      size,
      script: { greeting: greeting() },
    }));
    got.add("greetings of a linked home", await playDoses(target, doses, { note, forMs: 20_000 }));
    await greetPage(target, note, got);
    return got.tally;
  },
  judge({ sightings }) {
    const taken = sightings.filter(({ size, isTaken }) => isTaken && !size.startsWith("60 kB"));
    assert.deepEqual(taken, [], "a greeting beyond 64 KB is refused");
  },
};

/** The same greetings, and hostile answers instead of a WebSocket, at an address that a person typed. */
async function greetPage(target: Target, note: Note, got: Tallied): Promise<void> {
  const instance = await hostileHomeAssistant();
  const page = await LinkPage.open(target, { mode: "renew" });
  const untilMs = performance.now() + 20_000;
  const scripts = [
    ...greetings.map(([size, greeting]) => ["greeting at a link page", size, { greeting: greeting() }] as const),
    ...hostileAnswers("@", { status: 400 }).map(
      (opening) => ["answer instead of a WebSocket", opening.size, { opening }] as const,
    ),
  ];
  for (const [message, size, script] of scripts) {
    if (performance.now() > untilMs) break;
    instance.play(script);
    const startedMs = performance.now();
    const fate = await page.submit(instance.url).then(
      (answer) => ({ isTaken: answer.status === 303, shown: shownProblem(answer) }),
      (error: Error) => ({ isTaken: false, shown: `no answer (${error.message})` }),
    );
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
    note({ message, size, isTaken: fate.isTaken, fate: `${fate.shown}, after ${seconds} s` });
    got.add("greetings at a link page");
  }
  instance.play(honest);
}
