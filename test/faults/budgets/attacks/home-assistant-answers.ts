import assert from "node:assert/strict";
import type { Attack } from "../attack.ts";
import { type Dose, linkHome, playDoses } from "../home-assistant-doses.ts";
import type { Script } from "../hostile-home-assistant.ts";
import { emptyObjects } from "../raw-answers.ts";

const largest = 16_700_000;
const registry = "config/entity_registry/list";

/** Answers of 16.7 MB to the calls that read a home, and as the first event of its subscription. */
export const homeAssistantAnswers: Attack = {
  name: "answers of a Home Assistant",
  prepare: linkHome,
  async run(target, note) {
    return { "answers sent": await playDoses(target, doses(), { note, forMs: 45_000 }) };
  },
  judge({ sightings }) {
    const taken = sightings.filter(({ size, isTaken }) => isTaken && size.includes("{}"));
    assert.deepEqual(taken, [], "an answer of millions of values is refused");
  },
};

function doses(): readonly Dose[] {
  const result = (type: string, list: string): Script => ({
    answers: { [type]: (id) => `{"id":${id},"type":"result","success":true,"result":${list}}` },
  });
  const event = (list: string): Script => ({ firstEvent: (id) => `{"id":${id},"type":"event","event":{"a":${list}}}` });
  const entities = JSON.stringify(
    Array.from({ length: 50_000 }, (_, i) => ({ id: `r${i}`, entity_id: `light.many_${i}`, name: "x".repeat(200) })),
  );
  const states = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`light.many_${i}`, { s: "on" }]));
  const huge = emptyObjects(largest - 100);
  return [
    { message: "registry of entities", size: "50,000 entities in 13 MB", script: result(registry, entities) },
    { message: "registry of entities", size: "16.7 MB of {}", script: result(registry, huge) },
    { message: "all states", size: "16.7 MB of {}", script: result("get_states", huge) },
    { message: "first event", size: "100,000 entities in 3 MB", script: event(JSON.stringify(states)) },
    { message: "first event", size: "16.7 MB of {}", script: event(huge) },
  ];
}
