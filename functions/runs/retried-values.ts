import { canonicalJson, type Json } from '../../shared/canonical.ts'
import type { Dag } from '../../shared/dag/dag.ts'
import type { Principal } from '../../shared/principal.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { continuedRun } from './continued-run.ts'
import type { Pinned } from './read-pinned.ts'

type Values = Readonly<Record<string, Json>>

/** Context keys that iterations and pivots set themselves. */
export const MADE_KEYS: readonly string[] = ['feedback', 'previous', 'suggestions', 'task']

/** What the blocks of an ended run were given from outside. */
export interface RetriedValues {
  /** As the run left it, with what people changed on the way. */
  readonly context: Values
  /** What a retry begins with, under its own values. */
  readonly earlier: Values
  /** Of its overrides those that name a port of the retry's document. */
  readonly overrides: Values
}

/**
 * A retry begins with the context as the earlier run left it: a value a person has mended meanwhile stays mended, and a
 * block that read the old one has other inputs now. But for what is made again: the task of a document that moves one is
 * as that run found it, since its moves are; and a default of the document gives way to that of an edited one.
 */
export async function retriedValues(
  world: Pick<World, 'runs' | 'objects'>,
  principal: Pick<Principal, 'tenant'>,
  { run, old, dag }: { readonly run: RunKey; readonly old: Pinned; readonly dag: Dag },
): Promise<RetriedValues> {
  const context = (await world.runs.context(run))?.values ?? {}
  const overrides = Object.entries(old.meta.overrides).filter(([key]) => namesPort(dag, key))
  const kept = Object.entries(context).filter(([key, value]) => !isDefault(old.dag, key, value))
  const earlier = Object.fromEntries(kept)
  if (dag.task_gates !== undefined) {
    const { task: _, ...others } = earlier
    const first = await continuedRun(world, principal, { dag, continues: old.meta.continues })
    const task = first?.values.task
    return { context, earlier: { ...others, ...(task === undefined ? {} : { task }) }, overrides: from(overrides) }
  }
  return { context, earlier, overrides: from(overrides) }
}

function from(entries: readonly (readonly [string, Json])[]): Values {
  return Object.fromEntries(entries)
}

function isDefault({ inputs }: Dag, key: string, value: Json): boolean {
  const given = Object.hasOwn(inputs, key) ? inputs[key]?.default : undefined
  return given !== undefined && canonicalJson(given) === canonicalJson(value)
}

function namesPort({ blocks }: Dag, key: string): boolean {
  const [id, port = ''] = key.split('.')
  const block = blocks.find((one) => one.id === id)
  return block !== undefined && Object.hasOwn(block.inputs, port)
}
