import { SimulatorControl } from "../../../../verify/client/simulator-control.ts";
import type { Report } from "../../../../verify/report/report.ts";
import { type Administer, addTemporaryTenant } from "../../../../verify/temporary-tenant.ts";
import { verify } from "../../../../verify/verify.ts";
import type { VerifyInput } from "../../../../verify/verify-input.ts";

export interface SelfVerification {
  /** The deployment's address for clients. */
  readonly url: string;
  readonly version: string;
  readonly ecosystems: readonly { readonly name: string; readonly url: string | undefined }[];
  readonly administer: Administer;
  readonly signal: AbortSignal;
}

/** The service verifies itself: over HTTP at its public address, with a temporary tenant. */
export async function verifyItself({
  url,
  version,
  ecosystems,
  administer,
  signal,
}: SelfVerification): Promise<Report> {
  const simulated = await simulatorAmong(ecosystems);
  const temporary = await addTemporaryTenant(administer, { isInterrupted: () => signal.aborted });
  try {
    const input: VerifyInput = {
      url,
      ...temporary.input,
      signsInByHand: false,
      simulator: simulated?.simulator,
      ecosystem: simulated?.ecosystem ?? ecosystems[0]?.name ?? "",
      isPatient: false,
    };
    return await verify(input, { signal, version, say: () => undefined });
  } finally {
    // The next run removes what could not be removed now.
    await temporary.remove();
  }
}

async function simulatorAmong(ecosystems: SelfVerification["ecosystems"]) {
  for (const { name, url } of ecosystems) {
    if (url !== undefined && (await new SimulatorControl(url).isThere())) {
      return { ecosystem: name, simulator: { url, isAssumed: true } };
    }
  }
  return undefined;
}
