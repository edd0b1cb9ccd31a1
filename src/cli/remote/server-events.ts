/** One event of a stream of Server-Sent Events. */
export interface ServerEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** The events of a body as they come in whole; a last one that was cut off is left out. */
export async function* serverEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const text = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>);
  let rest = "";
  for await (const chunk of text) {
    const frames = (rest + chunk).split("\n\n");
    rest = frames.pop() ?? "";
    for (const frame of frames) {
      const event = readFrame(frame);
      if (event) yield event;
    }
  }
}

function readFrame(frame: string): ServerEvent | undefined {
  const fields = { id: "", event: "message", data: "" };
  for (const line of frame.split("\n")) {
    const [, name, value] = /^(id|event|data): ?(.*)$/.exec(line) ?? [];
    if (name !== undefined) fields[name as keyof typeof fields] = value ?? "";
  }
  return fields.data === "" ? undefined : fields;
}
