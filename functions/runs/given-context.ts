import { undeclaredKeys } from '../../shared/approvals/unasked-questions.ts'
import { canonicalJson, type Json, sha256 } from '../../shared/canonical.ts'
import type { Dag } from '../../shared/dag/dag.ts'
import type { GivenKey, Meta, RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { allEvents } from './all-events.ts'

/** Shown one by one; the hash of the others stands for them. */
const MOST_SHOWN = 200
const VALUE_LENGTH = 300

interface Beginning {
  readonly dag: Dag
  /** The context the run begins with. */
  readonly context: Readonly<Record<string, Json>>
  /** Keys its request set itself. */
  readonly given?: readonly string[]
  /** Keys no person set. */
  readonly made?: readonly string[]
  /** The run whose context it goes on with. */
  readonly before?: { readonly run: RunKey; readonly meta: Meta } | undefined
}

/**
 * What of a run's first context is not what a plain start of its document would have: keys that it does not declare, and
 * those that somebody had patched in the run before, or in one before that. For META, so that whoever decides is shown it.
 */
export async function givenContext(
  world: Pick<World, 'runs'>,
  { dag, context, given = [], made = [], before }: Beginning,
): Promise<Pick<Meta, 'given'>> {
  const undeclared = new Set(undeclaredKeys(dag, Object.keys(context)))
  const whence = before === undefined ? () => undefined : await carriedFrom(world, before)
  const all = Object.entries(context).flatMap(([key, value]): readonly GivenKey[] => {
    const isGiven = given.includes(key)
    const from = isGiven || made.includes(key) ? undefined : whence(key, undeclared.has(key))
    const isTold = from !== undefined || (isGiven && undeclared.has(key))
    return isTold ? [{ ...toldOf(key, value), ...from }] : []
  })
  return all.length === 0 ? {} : { given: shortened(all) }
}

type Whence = Pick<GivenKey, 'from' | 'by'>

/** Where a key of the run before comes from, if it is not one that its document asks for. */
async function carriedFrom(world: Pick<World, 'runs'>, { run, meta }: NonNullable<Beginning['before']>) {
  const patched = await patchedIn(world, run)
  const earlier = new Map((meta.given ?? []).map((one) => [one.key, one]))
  const { run_id: from } = run
  return (key: string, isUndeclared: boolean): Whence | undefined => {
    if (patched.has(key)) return whenceOf(from, patched.get(key))
    const first = earlier.get(key)
    if (first !== undefined) return whenceOf(first.from ?? from, first.by)
    return isUndeclared ? { from } : undefined
  }
}

function whenceOf(from: string, by: string | undefined): Whence {
  return { from, ...(by === undefined ? {} : { by }) }
}

/** Keys a request sets itself. */
export function keysOf({
  context,
  inputs,
}: {
  readonly context?: object | undefined
  readonly inputs?: object | undefined
}) {
  return [...new Set([...Object.keys(context ?? {}), ...Object.keys(inputs ?? {})])]
}

function toldOf(key: string, value: Json): GivenKey {
  const json = canonicalJson(value)
  return { key, value: json.slice(0, VALUE_LENGTH).toWellFormed(), sha256: sha256(json) }
}

function shortened(all: readonly GivenKey[]): readonly GivenKey[] {
  const more = all.slice(MOST_SHOWN)
  if (more.length === 0) return all
  const rest = { key: `${more.length} more keys`, value: '', sha256: sha256(canonicalJson(more as unknown as Json)) }
  return [...all.slice(0, MOST_SHOWN), rest]
}

async function patchedIn({ runs }: Pick<World, 'runs'>, run: RunKey): Promise<ReadonlyMap<string, string | undefined>> {
  const context = await runs.context(run)
  const events = (context?.version ?? 0) > 0 ? await allEvents({ runs }, run) : []
  return new Map(
    events.flatMap((event) =>
      event.type === 'context:patched' ? event.data.keys.map((key) => [key, event.data.by] as const) : [],
    ),
  )
}
