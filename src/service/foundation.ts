import type { Config } from "../config/config.ts";
import { linkFaultKinds } from "../federation/link-faults.ts";
import { metricsOf } from "../metrics/metrics.ts";
import { observedStore } from "../metrics/observed-store.ts";
import { unknownOperation } from "../outlets/platform/calls.ts";
import { faultNumbers } from "../outlets/platform/faults.ts";
import { operations as platformOperations } from "../outlets/platform/operations.ts";
import { processRuntime } from "../runtime/process/process-runtime.ts";
import { presentOwner, runOutsideRequests } from "../runtime/process/request-lines.ts";
import type { Logger, Runtime } from "../runtime/runtime.ts";
import { dataFolder } from "../store/disk/data-folder.ts";
import { openPostgres } from "../store/postgres/store.ts";
import type { OpenStore } from "../store/seam.ts";
import { openSqlite } from "../store/sqlite/store.ts";
import { build } from "./build.ts";
import { sealingFor } from "./sealing-keys.ts";

/** Opens what all other parts need: the locked data folder, metrics, the store and its sealing keys. */
export async function openFoundation(
  config: Config,
  report: Logger,
  injectedRuntime: Runtime | undefined,
  { mayLackKeys = false }: { readonly mayLackKeys?: boolean },
) {
  const folder = dataFolder(config.dataFolder);
  folder.make((sentence) => report.warn({ folder: folder.path }, sentence));
  const unlock = config.databaseUrl ? () => undefined : folder.lock();
  const operationNames = [...platformOperations.keys(), unknownOperation];
  const metrics = metricsOf(build, { linkFaultKinds, operations: operationNames, faults: faultNumbers });
  const runtime = {
    ...(injectedRuntime ?? processRuntime(report)),
    outsideRequests: runOutsideRequests,
    countFailure: metrics.backgroundFailure,
  };
  let store: OpenStore | undefined;
  const close = async () => {
    metrics.stop();
    await store?.close();
    unlock();
  };
  try {
    const opened = config.databaseUrl
      ? await openPostgres({ url: config.databaseUrl, onGroupCommit: metrics.groupCommitted, presentOwner })
      : await openSqlite({
          folder: folder.path,
          nowMs: runtime.nowMs,
          onCommit: metrics.groupCommitted,
          ownerOfRead: presentOwner,
        });
    store = observedStore(opened, metrics.store);
    const keyFile = config.keyFile ?? folder.keyFile;
    const sealing = await sealingFor(store, keyFile, { mayLackKeys });
    return { folder, metrics, runtime, store, keyFile, sealing, close };
  } catch (error) {
    await close();
    throw error;
  }
}
