import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { DueReport } from "../../src/assistants/assistant.ts";
import type { CurrentThing } from "../../src/assistants/current-thing.ts";
import type { TraitName, Traits } from "../../src/home/catalogue.ts";
import type { AlarmRise } from "../../src/store/tables/assistant-marks.ts";
import { rounds } from "../set-up/extent.ts";
import { type AskedDirective, type AskedIntent, anyDirective, anyIntent } from "./random/any-ask.ts";
import { anyName, anyThings, anyTrait } from "./random/any-thing.ts";
import { AlexaOfHome, GoogleOfHome } from "./random/assistants-of-home.ts";
import { type CommandEnd, MadeHome } from "./random/made-home.ts";

type Step =
  | { readonly do: "ask Alexa"; readonly asked: AskedDirective; readonly ends: CommandEnd }
  | { readonly do: "ask Google"; readonly asked: AskedIntent; readonly ends: CommandEnd }
  | { readonly do: "change"; readonly which: number; readonly made: Readonly<Record<string, object>> }
  | { readonly do: "alter"; readonly which: number; readonly facts: Partial<ThingFacts> }
  | { readonly do: "report" };

type ThingFacts = Pick<CurrentThing, "name" | "isStale" | "goneMs">;

const traitNames = [
  ...(["onOff", "brightness", "temperature", "humidity", "thermostat", "fanTimer", "fan", "smoke"] as const),
  ...(["carbonMonoxide", "battery"] as const),
] satisfies readonly TraitName[];

const anyEnd = fc.constantFrom<CommandEnd>("confirmed", "confirmed", "confirmed", "queued", "contradicted", "expired");
const which = fc.nat(1_000);

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("ask Alexa" as const), asked: anyDirective, ends: anyEnd }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("ask Google" as const), asked: anyIntent, ends: anyEnd }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("change" as const),
      which,
      made: fc.constantFrom(...traitNames).chain((name) => fc.record({ [name]: anyTrait(name) })),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("alter" as const),
      which,
      facts: fc.oneof(fc.record({ name: anyName }), fc.record({ isStale: fc.boolean() }), fc.constant({ goneMs: 1 })),
    }),
  },
  { weight: 3, arbitrary: fc.constant({ do: "report" as const }) },
);

/** Replaces the state of one trait, if the thing has it. Its capabilities stay. */
function changed({ traits }: CurrentThing, made: Readonly<Record<string, object>>): Traits {
  const [name, given] = Object.entries(made)[0] as [TraitName, NonNullable<Traits[TraitName]>];
  const trait = traits[name];
  return trait ? { ...traits, [name]: { ...given, capabilities: trait.capabilities } } : traits;
}

function takeDueReport(home: MadeHome): DueReport {
  const things = [...home.marks].map(([thingId, { sinceMs, wantsSync }]) => {
    const current = home.things.get(thingId)!;
    const state = current.traits.smoke?.state.state;
    const isUrgent = sinceMs > 0 && (state === "alarm" || state === "warning");
    const rises: AlarmRise[] = isUrgent ? [{ trait: "smoke", state, timeMs: sinceMs }] : [];
    return { thingId, current, sinceMs, wantsState: true, wantsSync, isUrgent, rises };
  });
  home.marks.clear();
  const replies = home.takeDeferred().map(({ receipt, reply }) => {
    const { thingId } = receipt;
    return { thingId, reply: JSON.stringify(reply), receipt, current: home.things.get(thingId) };
  });
  return { agentUserId: "a_user", things, replies, failed: null };
}

/** Plays the steps on a home that both assistants know. */
async function play(things: readonly CurrentThing[], steps: readonly Step[]): Promise<void> {
  const home = new MadeHome(things);
  const [alexa, google] = [new AlexaOfHome(home), new GoogleOfHome(home)];
  await alexa.discover();
  await google.sync();
  const report = async () => {
    const due = takeDueReport(home);
    alexa.report(due);
    await google.report(due);
  };
  await report();
  for (const step of steps) {
    const all = [...home.things.values()];
    const chosen = "which" in step ? all[step.which % all.length]! : undefined;
    if ("ends" in step) home.ends = step.ends;
    switch (step.do) {
      case "ask Alexa":
        await alexa.ask(step.asked);
        break;
      case "ask Google":
        await google.ask(step.asked);
        break;
      case "change":
        home.show(chosen!, changed(chosen!, step.made));
        break;
      case "alter": {
        // An own thing has no link: it can be renamed, but becomes neither stale nor gone.
        const isOwn = chosen!.settable !== undefined;
        if (!isOwn || "name" in step.facts)
          home.alter(chosen!, step.facts.goneMs ? { goneMs: home.nowMs } : step.facts);
        break;
      }
      case "report":
        await report();
    }
  }
  await report();
  await alexa.assertInformed();
  await google.assertInformed();
}

describe("any home at both assistants", () => {
  it("matches what is answered and reported, and each answer repeats the ids of its directive", async () => {
    await fc.assert(fc.asyncProperty(anyThings(8), fc.array(anyStep, { minLength: 8, maxLength: 24 }), play), {
      numRuns: rounds({ all: 400, few: 20 }),
    });
  });

  it("is offered to Alexa with 300 endpoints, and to Google in a valid SYNC", async () => {
    const [things] = fc.sample(anyThings(700, 700), { numRuns: 1 });
    const home = new MadeHome(things!);
    const alexa = new AlexaOfHome(home);
    await alexa.discover();
    assert.equal(alexa.customer.endpoints.size, 300);
    await new GoogleOfHome(home).sync();
  });
});
