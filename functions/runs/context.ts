import { undeclaredKeys } from '../../shared/approvals/bypassed-questions.ts'
import type { Principal } from '../../shared/auth/principal.ts'
import type { Dag } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import type { Appended, GivenKey, Meta, RunKey } from '../../shared/runs/run-store.ts'
import type { ContextItem } from '../../shared/runs/run-store-items.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { canonicalJson, type Json } from '../../shared/text/json.ts'
import type { World } from '../../shared/world.ts'
import type { Pinned } from '../record/pinned-run.ts'
import { allEvents } from '../record/run-log.ts'
import { readContinuedRun } from './continued-run.ts'

type Values = Readonly<Record<string, Json>>

/** Context keys that iterations and pivots set themselves. */
export const MADE_KEYS: readonly string[] = ['feedback', 'previous', 'suggestions', 'task']

/** What the blocks of an ended run were given from outside. */
interface RetriedValues {
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
    const first = await readContinuedRun(world, principal, { dag, continues: old.meta.continues })
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
export function requestKeys({
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

const MAX_BYTES = 204_800

/** Fault LimitExceeded context_too_large: a context has at most 200 KiB. */
export function checkContextSize({ values }: ContextItem): void {
  const bytes = Buffer.byteLength(canonicalJson(values))
  if (bytes <= MAX_BYTES) return
  const message = `Cannot change the context: it would have ${bytes} bytes, at most ${MAX_BYTES} are allowed.`
  throw new Fault('LimitExceeded', 'context_too_large', message, {
    status: 413,
    facts: { bytes, max_bytes: MAX_BYTES },
  })
}

/** Names a stored version by its event. The lane's ordinal is the version; one that is recorded stays as it is. */
export function recordContext(
  world: Pick<World, 'runs' | 'clock'>,
  run: RunKey,
  version: number,
  keys: readonly string[],
  by?: string,
): Promise<Appended> {
  return world.runs.append({
    run,
    lane: 'ctx',
    ordinal: version,
    guard: { below: version },
    at: new Date(world.clock.now()).toISOString(),
    events: [{ type: 'context:patched', data: { version, keys: [...keys], ...(by === undefined ? {} : { by }) } }],
  })
}
