/** `node-<host>:<port>-<uuid>`: nodes of older versions, and those with a free port, have no host and port. */
const namedId = /^node-(.+:\d+)-[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** The id of a new process. With a name of host and port, nodeName() returns that name. */
export function nodeIdFor(uuid: string, name: string | undefined): string {
  return name === undefined ? `node-${uuid}` : `node-${name}-${uuid}`;
}

/** Host and port of a node, for people; its id if that does not contain them. */
export function nodeName(id: string): string {
  return namedId.exec(id)?.[1] ?? id;
}
