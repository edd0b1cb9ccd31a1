import type { DeviceId, TenantId } from "../model/ids.ts";
import type { Priority, Store, Transaction } from "../store/seam.ts";
import { attemptsIn, inAttempts, type WorkOptions } from "./attempts.ts";
import { applyRequest, type CommitParts, type CommitRequest } from "./commit.ts";
import { type AddedDevice, addDevices } from "./device-addition.ts";
import type { CommitTables, DeviceCommit } from "./device-commit.ts";
import { silenceDevices } from "./device-silence.ts";
import type { DeviceState } from "./states.ts";
import { showsOwnAlarm } from "./urgent-things.ts";

/** A group of commits may store the answers of a batch. */
export type GroupTables = CommitTables & Pick<Transaction, "batchGroups">;

/** Applies one request within a group of commits. If it throws a refusal, it has written nothing. */
export type ApplyInGroup = (
  request: Pick<CommitRequest, "userId" | "cause" | "updates">,
) => Promise<readonly DeviceCommit[]>;

/** The commits that a group can consist of. */
export interface GroupCalls {
  readonly apply: ApplyInGroup;
  /**
   * How often the commits so far have asked for work outside of the transaction. If they have, the transaction will be
   * rolled back.
   */
  readonly workRequests: () => number;
  /** Adds devices of one tenant that are within all limits. */
  add(tenantId: TenantId, devices: readonly AddedDevice[], nowMs: number): Promise<readonly DeviceState[]>;
  /**
   * Logs which of the tenant's devices have fallen silent. Returns the devices that are left when `isOver` says that the
   * transaction has taken long enough: alerts watch them, so each is a commit of its own. At least one commit is made.
   */
  silence(
    tenantId: TenantId,
    ids: readonly DeviceId[],
    nowMs: number,
    isOver: () => boolean,
  ): Promise<readonly DeviceId[]>;
}

/**
 * Several commits in one transaction, also of several users. The body locks all users in ascending order before its
 * first call. All commits are durable when the promise resolves.
 */
export type CommitGroup = <Result>(
  body: (tx: GroupTables, calls: GroupCalls) => Promise<Result>,
  priority?: Priority,
  options?: Pick<WorkOptions, "mayRefuse" | "mayWait" | "abandoned">,
) => Promise<Result>;

export function commitGroupOn(parts: Omit<CommitParts, "store"> & { readonly store: Store<GroupTables> }): CommitGroup {
  return async (body, priority, options) => {
    let commits: DeviceCommit[] = [];
    const together = (tx: GroupTables) => {
      // The body may run again.
      commits = [];
      return body(tx, callsIn(tx, parts, commits));
    };
    const result = await inAttempts(parts.store, together, priority, {
      ...options,
      urgent: priority?.urgent ?? false,
    });
    parts.committed(commits, commits.some(showsOwnAlarm));
    return result;
  };
}

/** The calls within one transaction; their commits are added to `commits`. */
function callsIn(tx: GroupTables, parts: Omit<CommitParts, "store">, commits: DeviceCommit[]): GroupCalls {
  const { ownThings } = parts;
  const apply: ApplyInGroup = async (request) => {
    const applied = await applyRequest(tx, request, parts);
    commits.push(...applied);
    return applied;
  };
  return {
    apply,
    workRequests: () => attemptsIn(tx)!.workRequests,
    async add(tenantId, devices, nowMs) {
      const added = await addDevices(tx, tenantId, devices, nowMs, ownThings);
      commits.push(...added.commits);
      return added.states;
    },
    async silence(tenantId, ids, nowMs, isOver) {
      const cause = { by: "administrator" } as const;
      const devices = await tx.devices.lockOfTenant(tenantId, ids);
      // A silence changes no attribute, so that only alerts on things react to it.
      const unwatched = devices.filter(({ areThingsWatched }) => !areThingsWatched);
      commits.push(...(await silenceDevices(tx, tenantId, unwatched, nowMs, { ownThings, cause, hop: 0 })));
      const watched = devices.filter(({ areThingsWatched }) => areThingsWatched);
      for (const [index, { userId, id: deviceId }] of watched.entries()) {
        if (index > 0 && isOver()) return watched.slice(index).map(({ id }) => id);
        await apply({ userId, cause, updates: [{ deviceId, changes: [], fallsSilent: true }] });
      }
      return [];
    },
  };
}
