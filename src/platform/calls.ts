import type { UserPrincipal } from "../identity/principal.ts";
import { InvalidSecToken, LimitReached, UnknownOperation } from "../model/errors.ts";
import type { ReachLimit } from "../model/limits.ts";
import type { Report } from "../model/surroundings.ts";
import { type Fault, faultOf } from "./faults.ts";
import { type Operation, operations, type PlatformParts } from "./operations.ts";
import { type CallOrigin, Parameters, type SentParameters } from "./parameters.ts";
import { document, type Element } from "./xml.ts";

/** The platform calls ("zamapi", platform-protocol.md): an operation's name and parameters in, XML out. */
export interface PlatformCalls {
  /** Every operation by its name, with its rule. */
  readonly operations: ReadonlyMap<string, Pick<Operation, "access">>;
  /** Never rejects: what fails is a fault. */
  call(operation: string, parameters: SentParameters, source: string, gone?: AbortSignal): Promise<PlatformAnswer>;
}

export type PlatformAnswer = { readonly status: 200; readonly xml: string } | Fault;

export interface PlatformCallParts extends PlatformParts {
  readonly report: Report;
  /** Counts refusals by the limit that was reached. */
  readonly reached: ReachLimit;
}

export function platformCalls({ report, reached, ...parts }: PlatformCallParts): PlatformCalls {
  return {
    operations,
    async call(operation, parameters, source, gone) {
      try {
        const children = await run(parts, operation, new Parameters(parameters), { source, gone });
        return { status: 200, xml: document(`${operation}Response`, children) };
      } catch (error) {
        if (error instanceof LimitReached) reached(error.limit);
        return faultOf(error, report);
      }
    },
  };
}

async function run(
  parts: PlatformParts,
  name: string,
  parameters: Parameters,
  from: CallOrigin,
): Promise<readonly Element[]> {
  const operation = operations.get(name);
  // The name isn't repeated: whatever stands in a mistyped address may be a secret.
  if (!operation) throw new UnknownOperation("This operation is unknown.");
  if (operation.access === "public") return operation.run(parts, parameters, from);
  return operation.run(parts, parameters, await callerOf(parts, parameters));
}

/** Before any other parameter is looked at: a stranger learns nothing but that a token is needed. */
function callerOf({ identity }: PlatformParts, parameters: Parameters): Promise<UserPrincipal> {
  const secToken = parameters.optional("secToken");
  if (secToken === undefined) throw new InvalidSecToken();
  return identity.authenticate(secToken);
}
