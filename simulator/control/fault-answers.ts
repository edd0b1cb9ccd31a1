import type { Ecosystem } from "../ecosystem.ts";
import { faultKinds, sharedArguments } from "../faults/catalogue.ts";
import { readFaultPlan } from "../faults/faults.ts";
import { type Call, readJson, sendJson } from "../http/call.ts";
import { notFound } from "../refusal.ts";

export function listFaults({ faults }: Ecosystem, call: Call): void {
  const kinds = [...faultKinds.values()].map(({ name, meaning, arguments: known }) => ({
    fault: name,
    meaning,
    arguments: { ...known, ...sharedArguments },
  }));
  sendJson(call, 200, { kinds, active: faults.shown });
}

export async function turnFaultOn(ecosystem: Ecosystem, call: Call): Promise<void> {
  sendJson(call, 201, ecosystem.addFault(readFaultPlan(await readJson(call))));
}

export function clearFaults(ecosystem: Ecosystem, call: Call): void {
  sendJson(call, 200, { cleared: ecosystem.clearFaults() });
}

export function clearFault(ecosystem: Ecosystem, call: Call, id: string): void {
  if (ecosystem.clearFaults(id) === 0) throw notFound("There is no fault with this id, or it is over.");
  call.response.writeHead(204).end();
}
