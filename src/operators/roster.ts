import { checkNewName, readName } from "../identity/names.ts";
import { BadParameter, Conflict, LimitReached, NotFound } from "../model/errors.ts";
import { type OperatorId, parseId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import type { Store } from "../store/seam.ts";
import type { OperatorRow } from "../store/tables/operators.ts";
import { localName, type OperatorAccess } from "./operator.ts";
import { accessOf, checkAccess, holdTenants, type WantedAccess } from "./operator-access.ts";
import type { OperatorTables } from "./tables.ts";

/** An operator as lists show them. */
export interface OperatorRecord extends OperatorAccess {
  readonly operatorId: OperatorId;
  readonly name: string;
  readonly hasPassword: boolean;
  readonly isSuspended: boolean;
  readonly createdMs: number;
  readonly signedInMs: number | null;
}

/** An operator after a change. */
export interface ChangedOperator extends OperatorRecord {
  /** How many waiting invitations ended with it. */
  readonly invitationsEnded: number;
}

/**
 * Who the operators are, and what each may reach. Which owner made an invitation is not stored. So all waiting
 * invitations end when an owner is suspended, removed, or gets another role.
 */
export interface Roster {
  hasOperators(): Promise<boolean>;
  list(): Promise<readonly OperatorRecord[]>;
  /** Finds an operator by name or id. */
  find(nameOrId: string): Promise<OperatorRecord>;
  setAccess(operatorId: OperatorId, access: WantedAccess): Promise<ChangedOperator>;
  /** Ends all sessions and tokens of the operator, who can't sign in until `resume`. */
  suspend(operatorId: OperatorId): Promise<ChangedOperator>;
  resume(operatorId: OperatorId): Promise<ChangedOperator>;
  remove(operatorId: OperatorId): Promise<ChangedOperator>;
}

export function rosterOn(store: Store<OperatorTables>): Roster {
  /** Changes one operator, and refuses a change after which no owner could sign in. */
  const change = (operatorId: OperatorId, act: (tx: OperatorTables, row: OperatorRow) => Promise<unknown>) =>
    store.transaction(async (tx) => {
      await tx.operators.lockAll();
      const before = await tx.operators.byId(operatorId);
      if (!before) throw unknownOperator(operatorId);
      await act(tx, before);
      const left = await tx.operators.list();
      if (isActiveOwner(before) && !left.some(isActiveOwner)) {
        throw new Conflict(`${before.name} is the only owner who can sign in. Make another operator an owner first.`);
      }
      const after = left.find(({ id }) => id === operatorId);
      const mayInvite = after !== undefined && isActiveOwner(after);
      const endsInvitations = before.role === "owner" && !mayInvite;
      const invitationsEnded = endsInvitations ? await tx.operatorLinks.removeOfKind("invitation") : 0;
      return { ...fromRow(after ?? before), invitationsEnded };
    });
  return {
    hasOperators: async () => (await store.read((tx) => tx.operators.list())).length > 0,
    list: async () => (await store.read((tx) => tx.operators.list())).map(fromRow),
    async find(nameOrId) {
      const text = readName("operator", nameOrId);
      const id = parseId<OperatorId>(text);
      const row = await store.read(({ operators }) => (id === undefined ? operators.byName(text) : operators.byId(id)));
      if (!row) throw unknownOperator(text);
      return fromRow(row);
    },
    setAccess: (operatorId, wanted) => {
      const access = checkAccess(wanted);
      return change(operatorId, async (tx) => {
        await holdTenants(tx, access.tenantIds);
        await tx.operators.setAccess(operatorId, access);
      });
    },
    suspend: (operatorId) =>
      change(operatorId, async (tx) => {
        await tx.operators.setSuspended(operatorId, true);
        await tx.operatorSessions.removeOfOperator(operatorId);
        await tx.operatorTokens.removeOfOperator(operatorId);
      }),
    resume: (operatorId) => change(operatorId, (tx) => tx.operators.setSuspended(operatorId, false)),
    remove: (operatorId) => change(operatorId, (tx) => tx.operators.remove(operatorId)),
  };
}

/** Adds an operator in an open transaction. */
export async function addOperator(
  tx: OperatorTables,
  operator: OperatorAccess & Pick<OperatorRow, "name" | "passwordHash"> & Partial<Pick<OperatorRow, "oidcSubject">>,
): Promise<OperatorRow> {
  await tx.operators.lockAll();
  if ((await tx.operators.list()).length >= limits.operators) {
    throw new LimitReached("operators", `There are ${limits.operators} operators. Remove one first.`);
  }
  const id = await tx.operators.add(operator);
  if (id === undefined) throw new Conflict(`There is an operator ${operator.name} already.`);
  return (await tx.operators.byId(id))!;
}

/** Digits alone would be read as an id, and `local` stands for commands on the machine. */
export function checkOperatorName(newName: string, storedName?: string): string {
  const name = checkNewName("name", readName("name", newName), storedName);
  if (/^\d+$/.test(name) || name.toLowerCase() === localName) {
    throw new BadParameter("name", `An operator's name must not be digits alone, and not "${localName}".`);
  }
  return name;
}

function isActiveOwner({ role, isSuspended }: OperatorRow): boolean {
  return role === "owner" && !isSuspended;
}

function unknownOperator(nameOrId: string | number): NotFound {
  return new NotFound(`There is no operator ${nameOrId}. See all with: breezeway operator list`);
}

export function fromRow(row: OperatorRow): OperatorRecord {
  const { id, name, passwordHash, isSuspended, createdMs, signedInMs } = row;
  const hasPassword = passwordHash !== null;
  return { operatorId: id, name, ...accessOf(row), hasPassword, isSuspended, createdMs, signedInMs };
}
