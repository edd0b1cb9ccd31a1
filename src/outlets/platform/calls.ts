import type { UserPrincipal } from "../../identity/principal.ts";
import { InvalidSecToken, LimitReached, UnknownOperation } from "../../model/errors.ts";
import type { OnLimitReached } from "../../model/limits.ts";
import { type Fault, faultOf } from "./faults.ts";
import { type Operation, operations, type PlatformParts } from "./operations.ts";
import { type CallOrigin, Parameters, type SentParameters } from "./parameters.ts";
import { document, documentInSlices, type Element } from "./xml.ts";

/** The platform calls (docs/interface.md, Platform calls): take the name of an operation and parameters, return XML. */
export interface PlatformCalls {
  /** Every operation by its name, with its access rule. */
  readonly operations: ReadonlyMap<string, Pick<Operation, "access">>;
  /** Never rejects: a failure is returned as a fault. */
  call(
    operation: string,
    parameters: SentParameters,
    source: string,
    disconnected?: AbortSignal,
  ): Promise<PlatformAnswer>;
}

/** A list of several pages is sent in slices. Each slice is made when the client has taken the one before. */
export type PlatformAnswer = { readonly caller: UserPrincipal | undefined } & (Document | Fault);

type Document =
  | { readonly status: 200; readonly xml: string }
  | { readonly status: 200; readonly slices: AsyncIterable<string> };

export interface PlatformCallParts extends PlatformParts {
  /** Counts calls by operation, and faults by their number. */
  readonly countCall?: (operation: string, fault: number | undefined) => void;
  /** Counts refusals by the limit that was reached. */
  readonly onLimitReached: OnLimitReached;
}

export function platformCalls({
  onLimitReached,
  countCall = () => undefined,
  ...parts
}: PlatformCallParts): PlatformCalls {
  return {
    operations,
    async call(operation, parameters, source, disconnected) {
      let caller: UserPrincipal | undefined;
      const setCaller = (one: UserPrincipal) => {
        caller = one;
      };
      try {
        const answered = await run(parts, operation, new Parameters(parameters), { source, disconnected }, setCaller);
        const answer = await answerOf(`${operation}Response`, answered);
        countCall(operation, undefined);
        return { ...answer, caller };
      } catch (error) {
        if (error instanceof LimitReached) onLimitReached(error.limit);
        const fault = faultOf(error);
        countCall(operations.has(operation) ? operation : unknownOperation, fault.fault);
        return { ...fault, caller };
      }
    },
  };
}

/** The label of unknown operations: names from outside never become labels. */
export const unknownOperation = "unknown";

type Elements = readonly Element[] | AsyncGenerator<readonly Element[], void>;

/** A list of one page is not sliced. An error on the first two pages becomes a fault; a later one cuts the answer off. */
async function answerOf(rootName: string, answered: Elements): Promise<Document> {
  if (!("next" in answered)) return { status: 200, xml: document(rootName, answered) };
  const first = (await answered.next()).value ?? [];
  const second = await answered.next();
  if (second.done) return { status: 200, xml: document(rootName, first) };
  const pages = async function* () {
    yield first;
    yield second.value;
    yield* answered;
  };
  return { status: 200, slices: documentInSlices(rootName, pages()) };
}

async function run(
  parts: PlatformParts,
  name: string,
  parameters: Parameters,
  from: CallOrigin,
  setCaller: (caller: UserPrincipal) => void,
): Promise<Elements> {
  const operation = operations.get(name);
  // The name isn't repeated: a mistyped address may hold a secret.
  if (!operation) throw new UnknownOperation("This operation is unknown.");
  if (operation.access === "public") return operation.run(parts, parameters, from);
  const caller = await callerOf(parts, parameters);
  setCaller(caller);
  parts.admit?.(caller, operation.mayCarryAlarms !== true);
  return operation.run(parts, parameters, caller, from);
}

/** The secToken is checked before all other parameters, so that an unauthenticated caller learns nothing about them. */
function callerOf({ identity }: PlatformParts, parameters: Parameters): Promise<UserPrincipal> {
  const secToken = parameters.optional("secToken");
  if (secToken === undefined) throw new InvalidSecToken();
  return identity.authenticate(secToken);
}
