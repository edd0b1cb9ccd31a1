/** Two multiplicative hashes of 32 bits in progress (cyrb53). Not for secrets. */
export interface Hash {
  one: number;
  two: number;
}

export function newHash(): Hash {
  return { one: 0xdeadbeef | 0, two: 0x41c6ce57 };
}

/** Adds a value with its type, and with its length if it is a text or a list: no two sequences of values look alike. */
export function addValue(hash: Hash, value: unknown): void {
  if (typeof value === "string") {
    // The length, as `addNumber` adds it.
    add(hash, (value.length * 10_000) | 0);
    add(hash, 0);
    let { one, two } = hash;
    for (let i = 0; i < value.length; i++) {
      const code = value.charCodeAt(i);
      one = Math.imul(one ^ code, 2_654_435_761);
      two = Math.imul(two ^ code, 1_597_334_677);
    }
    hash.one = one;
    hash.two = two;
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
export function addNumber(hash: Hash, value: number): void {
  const scaled = Math.round(value * 10_000);
  add(hash, scaled | 0);
  add(hash, Math.floor(scaled / 4_294_967_296) | 0);
}

export function hashValue({ one, two }: Hash): number {
  const first = Math.imul(one ^ (one >>> 16), 2_246_822_507) ^ Math.imul(two ^ (two >>> 13), 3_266_489_909);
  const second = Math.imul(two ^ (two >>> 16), 2_246_822_507) ^ Math.imul(first ^ (first >>> 13), 3_266_489_909);
  return 4_294_967_296 * (second & 0x1fffff) + (first >>> 0);
}

function add(hash: Hash, code: number): void {
  hash.one = Math.imul(hash.one ^ code, 2_654_435_761);
  hash.two = Math.imul(hash.two ^ code, 1_597_334_677);
}
