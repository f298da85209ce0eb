import type { ItemResult } from '../../shared/api/graph-routes.ts'
import type { Fault, Issue } from '../../shared/errors.ts'
import type { EntityOutcome } from '../../shared/graph/graph-store.ts'
import type { World } from '../../shared/world.ts'

/** Writes, and has what changed indexed soon. */
export async function writeGraph(
  { outbox }: Pick<World, 'outbox'>,
  tenant: string,
  items: readonly unknown[],
  write: () => Promise<readonly EntityOutcome[]>,
): Promise<readonly EntityOutcome[]> {
  if (items.length === 0) return []
  const outcomes = await write()
  const changed = outcomes.some(({ outcome }) => outcome !== 'unchanged' && outcome !== 'absent')
  if (changed) await outbox.graphWork({ tenant })
  return outcomes
}

/** One item of a call as it was read: what is written, or what is wrong with it. */
export interface ReadItem {
  readonly id?: string
  readonly item?: unknown
  readonly issues?: readonly Issue[]
  /** Why it is not taken, where nothing is wrong with it. */
  readonly fault?: Fault
}

/** A result for each item of the call, in order; `outcomes` are those of the items that could be read. */
export function itemResults(
  kind: 'entity' | 'triple',
  read: readonly ReadItem[],
  outcomes: readonly EntityOutcome[],
): ItemResult[] {
  const left = [...outcomes]
  return read.map(({ id, item, issues = [], fault }, at) => {
    const named = id === undefined ? { at } : { at, id }
    if (item !== undefined) return { ...named, ...resultOf(left.shift()) }
    if (fault !== undefined) return { ...named, ok: false, error: { code: fault.code, message: fault.message } }
    const message = `Cannot take this ${kind}: ${firstOf(issues)}`
    return { ...named, ok: false, error: { code: `bad_${kind}`, message, errors: [...issues] } }
  })
}

/** With its place, where that is not the item itself. */
function firstOf([first]: readonly Issue[]): string {
  if (first === undefined) return 'it does not fit the schema.'
  return first.path === '' ? first.message : `${first.path}: ${first.message}`
}

function resultOf(outcome: EntityOutcome | undefined): Omit<ItemResult, 'at' | 'id'> {
  if (outcome?.outcome === 'failed') return { ok: false, error: { code: outcome.code, message: outcome.message } }
  return { ok: true, ...(outcome === undefined ? {} : { outcome: outcome.outcome }) }
}
