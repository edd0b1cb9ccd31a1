import type { TenantId } from "../model/ids.ts";

type Begin = () => void;

/** Whose turn it is. */
export interface TurnOwner {
  /** Operators of the service have turns of their own. */
  readonly tenantId: TenantId | "operators";
  readonly name: string;
}

/** Those that wait for a turn. Tenants take turns, and within a tenant its callers (round robin). */
export class TurnQueue {
  /** The first tenant in the map has the next turn, and of it the first caller. */
  readonly #waiting = new Map<TurnOwner["tenantId"], Map<string, Begin[]>>();

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  add({ tenantId, name }: TurnOwner, begin: Begin): void {
    const ofTenant = this.#waiting.get(tenantId) ?? new Map<string, Begin[]>();
    this.#waiting.set(tenantId, ofTenant);
    ofTenant.set(name, [...(ofTenant.get(name) ?? []), begin]);
  }

  /** Returns false when it does not wait any more. */
  remove({ tenantId, name }: TurnOwner, begin: Begin): boolean {
    const ofTenant = this.#waiting.get(tenantId);
    const ofCaller = ofTenant?.get(name);
    if (!ofTenant || !ofCaller?.includes(begin)) return false;
    const left = ofCaller.filter((other) => other !== begin);
    if (left.length > 0) ofTenant.set(name, left);
    else ofTenant.delete(name);
    if (ofTenant.size === 0) this.#waiting.delete(tenantId);
    return true;
  }

  /** Removes and returns the next one. Its tenant and its caller go to the end. */
  take(): Begin | undefined {
    const [tenant] = this.#waiting;
    if (!tenant) return undefined;
    const [tenantId, callers] = tenant;
    const [[name, [next]]] = callers as unknown as [[string, [Begin]]];
    this.remove({ tenantId, name }, next);
    const others = callers.get(name);
    if (callers.delete(name)) callers.set(name, others!);
    if (this.#waiting.delete(tenantId)) this.#waiting.set(tenantId, callers);
    return next;
  }
}
