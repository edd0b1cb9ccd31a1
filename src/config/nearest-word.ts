/** The known word with the smallest edit distance; undefined if that is more than half of the word's length. */
export function nearestWord(word: string, known: readonly string[]): string | undefined {
  const ranked = known.map((other) => ({ other, edits: editDistance(word, other) }));
  ranked.sort((one, other) => one.edits - other.edits);
  const [best] = ranked;
  return best && best.edits <= word.length / 2 ? best.other : undefined;
}

/** The Levenshtein distance, row by row. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (const [column, other] of [...to].entries()) {
      next.push(Math.min(row[column]! + (letter === other ? 0 : 1), row[column + 1]! + 1, next[column]! + 1));
    }
    row = next;
  }
  return row.at(-1)!;
}
