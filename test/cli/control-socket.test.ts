import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import { callControl, serveControl } from "../../src/cli/administration/control-socket.ts";
import { folderOf } from "./made-folder.ts";

describe("a command that is interrupted while the service works on it", () => {
  it("resets its connection, and the service keeps running", async (t) => {
    const path = join(folderOf(t), "control.sock");
    const begun = Promise.withResolvers<void>();
    const control = await serveControl(path, async (command, _input, onProgress) => {
      if (command === "status") return { running: true };
      onProgress(1, 2);
      begun.resolve();
      return new Promise(() => undefined);
    });
    t.after(() => control.stop());
    const socket = connect(path);
    await once(socket, "connect");
    socket.write(`${JSON.stringify({ command: "access" })}\n`);
    await begun.promise;
    // Unread progress messages make the close a reset.
    socket.destroy();
    await once(socket, "close");
    assert.deepEqual(await callControl(path, "status", {}), { running: true });
  });
});
