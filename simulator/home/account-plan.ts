import { badArgument, impossible } from "../refusal.ts";
import { addDevice } from "./devices.ts";
import { emptyHome, type Home } from "./home.ts";
import { isJsonObject, type Json } from "./json.ts";
import type { Random } from "./random.ts";
import { addStructure, maxStructures } from "./structures.ts";

/** The initial content of an account. */
export interface AccountPlan {
  readonly seed: string | number;
  readonly structures: readonly StructurePlan[];
}

export interface StructurePlan {
  readonly name?: string;
  readonly thermostats: number;
  readonly alarms: number;
}

const maxDevices = 200;

/** A fixed time of the first connection, so that the same seed gives the same document on every day. */
const firstConnectionMs = Date.parse("2026-01-15T08:00:00.000Z");

/** Parses the description of an account; everything has a default. */
export function readAccountPlan(body: Json): AccountPlan {
  if (!isJsonObject(body)) throw badArgument("An account is described by a JSON object.");
  const { seed = 1, structures = [{}] } = body;
  if (!Number.isSafeInteger(seed) && typeof seed !== "string") {
    throw badArgument("seed must be a whole number or a text.");
  }
  if (!Array.isArray(structures)) throw badArgument("structures must be a list.");
  if (structures.length > maxStructures) throw impossible(`An account has at most ${maxStructures} structures.`);
  return { seed: seed as string | number, structures: structures.map(readStructurePlan) };
}

/** Builds the home of a plan. The result depends only on the arguments. */
export function buildHome(plan: AccountPlan, idSource: string, accessToken: string, random: Random): Home {
  let home = emptyHome(idSource, accessToken);
  for (const planned of plan.structures) {
    const [added, withStructure] = addStructure(home, planned.name, random);
    home = withStructure;
    for (const [kind, count] of [
      ["thermostats", planned.thermostats] as const,
      ["smoke_co_alarms", planned.alarms] as const,
    ]) {
      for (let i = 0; i < count; i++) {
        const structure = home.document.structures![added.structure_id]!;
        const connectedMs = firstConnectionMs + Math.floor(random() * 3_600_000);
        home = addDevice(home, kind, structure, random, connectedMs)[1];
      }
    }
  }
  return home;
}

function readStructurePlan(planned: Json): StructurePlan {
  if (!isJsonObject(planned))
    throw badArgument("Each of structures must be an object with name, thermostats and alarms.");
  const { name, thermostats = 2, alarms = 2 } = planned;
  if (name !== undefined && typeof name !== "string") throw badArgument("name of a structure must be a text.");
  return {
    ...(name === undefined ? {} : { name }),
    thermostats: readCount("thermostats", thermostats),
    alarms: readCount("alarms", alarms),
  };
}

function readCount(field: string, value: Json): number {
  if (!Number.isInteger(value) || (value as number) < 0 || (value as number) > maxDevices) {
    throw badArgument(`${field} of a structure must be a whole number from 0 to ${maxDevices}.`);
  }
  return value as number;
}
