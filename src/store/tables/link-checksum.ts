import type { DeviceId } from "../../model/ids.ts";

/**
 * A checksum of the links that a node owns, with their epochs: equal for equal links, and with near certainty different
 * for others, also when as many links with the same epochs were lost as were won.
 */
export interface LinkChecksum {
  readonly count: number;
  readonly digest: number;
}

/** A prime below 2 to the power of 26, so that a square is an exact number in JavaScript. */
const prime = 67_108_859;
const factor = 31_337;

export function checksumOfLinks(
  links: readonly { readonly deviceId: DeviceId; readonly epoch: number }[],
): LinkChecksum {
  let digest = 0;
  for (const { deviceId, epoch } of links) {
    const mixed = (deviceId * factor + epoch) % prime;
    // Squared: the sum of two neighbours would otherwise be that of the two beside them.
    digest += (mixed * mixed) % prime;
  }
  return { count: links.length, digest };
}

const mixed = `((CAST(device_id AS BIGINT) * ${factor} + epoch) % ${prime})`;

/** The same in SQL, over rows of `links`. */
export const checksumColumns = `COUNT(*) AS count, CAST(COALESCE(SUM(${mixed} * ${mixed} % ${prime}), 0) AS BIGINT) AS digest`;
