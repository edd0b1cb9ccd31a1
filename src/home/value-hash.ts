/** Two multiplicative hashes of 32 bits in progress (cyrb53). Not for secrets. */
export interface HashState {
  low: number;
  high: number;
}

export function newHash(): HashState {
  return { low: 0xdeadbeef | 0, high: 0x41c6ce57 };
}

/** Adds a value with its type, and with its length if it is a text or a list: no two sequences of values look alike. */
export function addValue(hash: HashState, value: unknown): void {
  if (typeof value === "string") {
    // The length, as `addNumber` adds it.
    add(hash, (value.length * 10_000) | 0);
    add(hash, 0);
    let { low, high } = hash;
    for (let i = 0; i < value.length; i++) {
      const code = value.charCodeAt(i);
      low = Math.imul(low ^ code, 2_654_435_761);
      high = Math.imul(high ^ code, 1_597_334_677);
    }
    hash.low = low;
    hash.high = high;
  } else if (typeof value === "number") {
    add(hash, 1);
    addNumber(hash, value);
  } else if (Array.isArray(value)) {
    add(hash, 2);
    addNumber(hash, value.length);
    for (const item of value) addValue(hash, item);
  } else add(hash, value === null ? 3 : value === undefined ? 4 : value ? 5 : 6);
}

/** Adds a number of any size; fractions count to a ten-thousandth. */
export function addNumber(hash: HashState, value: number): void {
  const scaled = Math.round(value * 10_000);
  add(hash, scaled | 0);
  add(hash, Math.floor(scaled / 4_294_967_296) | 0);
}

export function digestOf({ low, high }: HashState): number {
  const first = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  const second = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(first ^ (first >>> 13), 3_266_489_909);
  return 4_294_967_296 * (second & 0x1fffff) + (first >>> 0);
}

function add(hash: HashState, code: number): void {
  hash.low = Math.imul(hash.low ^ code, 2_654_435_761);
  hash.high = Math.imul(hash.high ^ code, 1_597_334_677);
}
