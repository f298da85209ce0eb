import { Fault } from '../../shared/errors.ts'
import { blockOrdinal, type Head } from '../../shared/runs/head.ts'
import type { Meta, RunKey } from '../../shared/runs/run-store.ts'
import type { Json } from '../../shared/text/json.ts'
import { listed } from '../../shared/text/wording.ts'
import {
  expressionOf,
  idOfRunEnd,
  type RunTrigger,
  TRIGGER_LIMITS,
  type TriggerKey,
} from '../../shared/triggers/trigger.ts'
import type { World } from '../../shared/world.ts'
import { readPinned } from '../record/pinned-run.ts'
import { readPortValues, readProjections } from '../record/projections.ts'
import { type Declared, dagNameOf, declaredTriggers } from './declared-triggers.ts'
import { afterRun, tooDeep } from './firing-chain.ts'
import { keepFiring, keepRefused } from './keep-firing.ts'
import { isPassedOver, WHOLE_PLACE } from './trigger-state.ts'

/** So long an end waits for a document that cannot be read and had a trigger of this kind. */
const UNREAD_MS = 86_400_000

/**
 * Keeps a firing of each trigger that waits for such an end of this run, and only then takes off its HEAD that they are to be
 * told: who dies between keeps the same ones again. Answers how many there are.
 */
export async function fireRunEnd(world: World, run: RunKey): Promise<number> {
  const head = await world.runs.head(run)
  const entry = head?.outbox.find(({ kind }) => kind === 'tell_triggers')
  const meta = entry === undefined ? undefined : await world.runs.meta(run)
  if (head === undefined || entry === undefined || meta === undefined) return 0
  const all = await declaredTriggers(world)
  await requireRead(world, all.unsound, entry.at)
  let kept = 0
  for (const declared of all.declared) {
    if (await fireEnd(world, declared, { meta, head, at: head.ended?.at ?? entry.at })) kept += 1
  }
  await world.runs.settleOutbox(run, [entry.id])
  return kept
}

/** A document that is being written may have a trigger that waits for this end: the sweep tells of it again. */
async function requireRead(world: World, unsound: readonly string[], ended: string): Promise<void> {
  if (unsound.length === 0 || world.clock.now() - Date.parse(ended) > UNREAD_MS) return
  const place = { tenant: world.settings.triggers.tenant, ...WHOLE_PLACE }
  const before = (await world.triggers.state(place))?.declared ?? []
  const had = unsound.filter((name) => before.some(({ document, kind }) => document === name && kind === 'run'))
  if (had.length === 0) return
  const message = `Cannot tell triggers of the end of a run yet: something of those of ${listed(had)} cannot be read.`
  throw new Fault('Unavailable', 'triggers_unread', message)
}

interface RunEnd {
  readonly meta: Meta
  readonly head: Head
  readonly at: string
}

async function fireEnd(world: World, { document, trigger }: Declared, end: RunEnd): Promise<boolean> {
  if (trigger.kind !== 'run') return false
  const { meta, head, at } = end
  const { tenant, run_id, dag_name } = meta
  const isWaiting = trigger.run.ends.some((one) => one === head.state)
  if (!isWaiting || (await dagNameOf(world, trigger.run.dag)) !== dag_name) return false
  const key = { tenant, document, trigger: trigger.name }
  if (await isPassedOver(world, key, at)) return false
  const after = await afterRun(world, { tenant, run_id })
  const occasion = { id: idOfRunEnd(run_id), at, after, roots: {} }
  const outputs = await outputsFor(world, key, trigger, end)
  const refused = tooDeep(key, after) ?? (outputs instanceof Fault ? outputs : undefined)
  if (refused !== undefined) await keepRefused(world, key, trigger, occasion, refused)
  else await keepFiring(world, key, trigger, { ...occasion, roots: { run: told(end), outputs: outputs as Json } })
  return true
}

/** What expressions read of the run. */
function told({ meta, head, at }: RunEnd): Readonly<Record<string, Json>> {
  const { run_id, dag_name, starter, created_at } = meta
  const { code, reason } = head.ended ?? {}
  const why = { ...(code === undefined ? {} : { code }), ...(reason === undefined ? {} : { reason }) }
  return { run_id, dag: dag_name, state: head.state, starter, created_at, ended_at: at, ...why }
}

/**
 * By block and port, what blocks that have completed gave: of those whose id stands in an expression, so that a run of a
 * thousand blocks is not read for one of them.
 */
async function outputsFor(
  world: Pick<World, 'runs' | 'objects'>,
  { document, trigger: name }: TriggerKey,
  trigger: RunTrigger,
  { meta, head }: RunEnd,
): Promise<Readonly<Record<string, Json>> | Fault> {
  const programs = programsOf(trigger)
  if (!programs.includes('outputs')) return {}
  const pinned = await readPinned(world, meta)
  const lanes = new Map<number, number>()
  for (const { id, index } of pinned.dag.blocks) {
    const lane = programs.includes(id) ? blockOrdinal(pinned, head, id) : undefined
    if (lane !== undefined) lanes.set(index, lane)
  }
  const blocks = [...(await readProjections(world, meta, lanes)).values()].filter(({ state }) => state === 'completed')
  const bytes = blocks.flatMap(({ outputs = {} }) => Object.values(outputs)).reduce((sum, one) => sum + one.bytes, 0)
  if (bytes > TRIGGER_LIMITS.outputs_bytes) {
    const message = `Cannot fire trigger "${name}" of DAG "${document}": the outputs of run ${meta.run_id} that its expressions name have ${bytes} bytes, at most ${TRIGGER_LIMITS.outputs_bytes} are read. Name blocks with smaller ones, or give run.run_id and read them in the run.`
    return new Fault('InvalidInput', 'trigger_outputs_too_large', message, { facts: { bytes } })
  }
  const found: Record<string, Json> = {}
  for (const { block, outputs = {} } of blocks) {
    const id = pinned.dag.blocks[block]?.id
    if (id !== undefined) found[id] = { ...(await readPortValues(world, meta.tenant, outputs)) }
  }
  return found
}

/** All it computes, as one text. */
function programsOf({ run, inputs }: RunTrigger): string {
  return [...Object.values(run.map), ...Object.values(inputs).map((value) => expressionOf(value) ?? '')].join('\n')
}
