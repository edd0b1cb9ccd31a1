/** The last values of a list that may be longer than memory should hold. */
export async function newest<Value>(limit: number, values: AsyncIterable<Value>): Promise<readonly Value[]> {
  let kept: Value[] = [];
  for await (const value of values) {
    kept.push(value);
    if (kept.length >= 2 * limit) kept = kept.slice(-limit);
  }
  return kept.slice(-limit);
}
