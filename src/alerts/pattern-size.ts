const tokens = {
  quoted: /\\Q([\s\S]*?)(?:\\E|$)/y,
  escape: /\\(?:[pPx]\{[^}]*\}|[\s\S])/y,
  class: /\[\^?\]?(?:\[:[^\]]*:\]|\\[\s\S]|[^\]\\])*\]?/y,
  repeat: /\{(\d+)(?:,(\d*))?\}/y,
} as const;

/**
 * Estimates the number of instructions that a pattern compiles to, without compiling it: nested repeats multiply, and
 * 256 characters can describe a program that takes a second to build.
 */
export function estimatedSize(pattern: string): number {
  /** The sizes of the enclosing groups up to the group that is being read. */
  const enclosing: number[] = [];
  let size = 0;
  /** The size of the last atom, which a following repeat multiplies. */
  let last = 0;
  const add = (instructions: number) => {
    last = instructions;
    size += instructions;
  };
  for (let at = 0; at < pattern.length; ) {
    const quoted = matchAt(tokens.quoted, pattern, at);
    const atom = matchAt(tokens.escape, pattern, at) ?? matchAt(tokens.class, pattern, at);
    const repeat = matchAt(tokens.repeat, pattern, at);
    const character = pattern[at]!;
    if (quoted) {
      // A repeat after a quotation applies to its last character.
      size += quoted[1]!.length;
      last = 1;
    } else if (repeat) {
      const times = Math.max(1, Number(repeat[1]), Number(repeat[2] ?? 0));
      size += last * (times - 1);
      last *= times;
    } else if (character === "(") {
      enclosing.push(size);
      size = 0;
      last = 0;
    } else if (character === ")") {
      // A group has an instruction at its start and at its end.
      const group = size + 2;
      size = enclosing.pop() ?? 0;
      add(group);
    } else if ("*+?".includes(character)) {
      size += 1;
      last += 1;
    } else {
      add(1);
    }
    at += (quoted ?? atom ?? repeat)?.[0].length ?? 1;
  }
  return size + enclosing.reduce((sum, before) => sum + before, 0);
}

function matchAt(token: RegExp, text: string, at: number): RegExpExecArray | null {
  token.lastIndex = at;
  return token.exec(text);
}
