import * as z from 'zod'
import type { BounceModule, ModuleRule } from '../../shared/dag/bounce-modules.ts'
import { REJECTION_GATE } from '../../shared/dag/dag.ts'
import { dueBounceRule } from '../../shared/runs/bounce-rules.ts'
import type { NewEvent } from '../../shared/runs/event.ts'
import {
  blockEpoch,
  blockOrdinal,
  blockOutcome,
  type FiredRule,
  type Head,
  type HeadModule,
} from '../../shared/runs/head.ts'
import { approvalId } from '../../shared/runs/ids.ts'
import { moduleLane, ordinal, PHASE } from '../../shared/runs/lane.ts'
import type { Appended, RunKey } from '../../shared/runs/run-store.ts'
import type { BlockProjection } from '../../shared/runs/run-store-items.ts'
import { shortRedacted } from '../../shared/text/short-text.ts'
import type { World } from '../../shared/world.ts'
import { functionHandler } from '../handler.ts'
import { signalJoins } from '../record/joins.ts'
import { MachineInputSchema, type Pinned, readPinned, toRunKey } from '../record/pinned-run.ts'
import { readProjections } from '../record/projections.ts'
import { recordEvents } from '../record/record-events.ts'
import { openCountedStorage } from '../record/storage-quota.ts'

const InputSchema = z.strictObject({
  in: MachineInputSchema,
  module: z.int().min(0),
  e: z.int().min(0),
  joins: z.array(z.string()).max(1_000).default([]),
})

/**
 * `_close_<k>`, the one exit of a bounce module: sends it back once more while a bounce is due, else lets the machine go
 * on and signals the joins outside for the module's sinks. HEAD decides, so a repeated call answers as the first did.
 */
export const handler = functionHandler({
  name: 'close-module',
  input: InputSchema,
  async run({ in: input, module: key, e, joins }, world) {
    const run = toRunKey(input)
    const pinned = await readPinned(world, run)
    const module = [...pinned.moduleOf.values()].find((one) => one.key === key)
    const head = await world.runs.head(run)
    if (module === undefined || head?.state !== 'running') return leave(world, run, module, joins)
    const epoch = head.modules[String(key)]?.epoch ?? 0
    if (epoch !== e) return { again: true, e: epoch }
    const due = await dueBounces(world, run, pinned, head, module)
    if (due.length === 0) return leave(world, run, module, joins)
    const also = skippedAgain(pinned, head, module, new Set(due.flatMap(({ rule }) => rule.hull)))
    const bouncing = { module, index: pinned.index, fired: head.modules[String(key)], due, also, epoch: epoch + 1 }
    return (await sendBack(world, run, bouncing)) ? { again: true, e: epoch + 1 } : { again: false }
  },
})

/** False when the run has ended meanwhile. That another call was faster is no matter: it wrote the same. */
async function sendBack(world: World, run: RunKey, bouncing: Bouncing): Promise<boolean> {
  const done = await reroute(openCountedStorage(world, run).world, run, bouncing)
  return done.ok || done.because === 'already'
}

async function leave(world: World, run: RunKey, module: BounceModule | undefined, joins: readonly string[]) {
  for (const source of module?.sinks ?? []) await signalJoins({ world, run, source }, joins)
  return { again: false }
}

/** Failures of one pass beyond these are looked at in the next one. */
const AT_ONCE = 10

/** A rule that is due, and what its gates said. */
interface DueBounce {
  readonly rule: ModuleRule
  readonly failure: NonNullable<BlockProjection['failure']>
}

/** The bounces of a module whose blocks have all ended: of each block that failed, the first rule that is due. */
async function dueBounces(
  world: Pick<World, 'runs' | 'objects'>,
  run: RunKey,
  pinned: Pinned,
  head: Head,
  module: BounceModule,
): Promise<readonly DueBounce[]> {
  const fired = head.modules[String(module.key)]
  const owners = [...new Set(module.rules.map(({ block }) => block))]
  const failed = owners.filter((id) => blockOutcome(pinned, head, id) === 'failed')
  const lanes = new Map(failed.map((id) => [pinned.index.get(id) ?? -1, blockOrdinal(pinned, head, id) ?? 0]))
  const projections = await readProjections(world, run, lanes)
  const due = [...lanes.keys()].flatMap((at): readonly DueBounce[] => {
    const block = pinned.dag.blocks[at]
    const failure = projections.get(at)?.failure
    if (block === undefined || failure === undefined) return []
    const rule = dueBounceRule({ module, fired, block, gates: failure.gates ?? [] })
    return rule === undefined ? [] : [{ rule, failure }]
  })
  return Promise.all(due.slice(0, AT_ONCE).map((bounce) => inPersonsWords(world, run, { pinned, head }, bounce)))
}

/** Who is sent back by a person is told all they said; a reason has room for its beginning. */
async function inPersonsWords(
  { objects }: Pick<World, 'objects'>,
  { tenant, run_id }: RunKey,
  { pinned, head }: { readonly pinned: Pinned; readonly head: Head },
  { rule, failure }: DueBounce,
): Promise<DueBounce> {
  if (rule.bounce.when_gate !== REJECTION_GATE || failure.code !== 'approval_rejected') return { rule, failure }
  const id = approvalId(run_id, pinned.index.get(rule.block) ?? -1, blockEpoch(pinned, head, rule.block))
  const ref = head.approvals[id]?.feedback_ref
  if (ref === undefined) return { rule, failure }
  const words = Buffer.from(await objects.get(tenant, ref)).toString('utf8')
  return { rule, failure: { ...failure, feedback: [words] } }
}

/** What one bounce of a module comes to: `due` rules fire together, `also` are skipped blocks that are asked again. */
interface Bouncing {
  readonly module: BounceModule
  readonly index: ReadonlyMap<string, number>
  /** What HEAD knows of the module so far. */
  readonly fired: HeadModule | undefined
  readonly due: readonly DueBounce[]
  readonly also: readonly string[]
  /** The new one. */
  readonly epoch: number
}

/** Bytes of ids one block:rerouted lists: an event has 1 KiB in all. A larger hull takes several events. */
const IDS_BYTES = 500
const REASON_CHARS = 200

/**
 * Raises the module's epoch and says which blocks begin again, in one update. Whoever sees the same HEAD writes the same,
 * so of two that do it one is refused and nothing is lost.
 */
async function reroute(
  world: Pick<World, 'runs' | 'objects' | 'clock'>,
  run: RunKey,
  { module, index, fired, due, also, epoch }: Bouncing,
): Promise<Appended> {
  const rules: Record<string, FiredRule> = { ...fired?.rules }
  const events: NewEvent[] = []
  for (const [i, bounce] of due.entries()) {
    const feedback = await world.objects.put(run.tenant, Buffer.from(JSON.stringify(feedbackOf(bounce))))
    const count = (rules[bounce.rule.key]?.count ?? 0) + 1
    rules[bounce.rule.key] = { count, epoch, feedback_ref: feedback.ref }
    const reset = i === 0 ? [...bounce.rule.hull, ...also] : bounce.rule.hull
    events.push(...eventsOf(bounce, reset, { count, epoch, feedback_ref: feedback.ref }))
  }
  const asked = Object.fromEntries(also.map((id) => [String(index.get(id)), epoch]))
  // One phase for each part before the last (recordEvents), and the last behind them.
  const at = ordinal({ epoch, attempt: 0, phase: PHASE.completed })
  return recordEvents(world, { epoch, attempt: 0, phase: PHASE.claimed }, events, {
    run,
    lane: moduleLane(module),
    ordinal: at,
    guard: { below: at },
    at: new Date(world.clock.now()).toISOString(),
    module: { key: String(module.key), set: { epoch, rules, also: { ...fired?.also, ...asked } } },
  })
}

/** Lines for the prompts of the reset blocks: the verdicts, then what the author says of them. */
function feedbackOf({ rule, failure }: DueBounce): readonly string[] {
  const { reason } = rule.bounce
  return [...(failure.feedback ?? []), ...(reason === undefined ? [] : [reason])]
}

function eventsOf(
  { rule, failure }: DueBounce,
  ids: readonly string[],
  { count, epoch, feedback_ref }: Required<FiredRule>,
): readonly NewEvent[] {
  const { route_to: to, max_bounces: max } = rule.bounce
  const reason = shortRedacted(rule.bounce.reason ?? failure.reason, REASON_CHARS)
  return chunksOf(ids).map((reset) => ({
    type: 'block:rerouted',
    block_id: rule.block,
    data: { to, reset, bounce: count, max, epoch, reason, feedback_ref },
  }))
}

function chunksOf(ids: readonly string[]): readonly string[][] {
  const chunks: string[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const id of ids) {
    bytes += id.length + 3
    if (bytes > IDS_BYTES) {
      chunks.push([id])
      bytes = id.length + 3
    } else chunks.at(-1)?.push(id)
  }
  return chunks
}

/**
 * Blocks of a module that were skipped, and that come after blocks which now begin again: why they were skipped may no
 * longer hold, so they are asked again. What completed or failed stays as it is.
 */
function skippedAgain(pinned: Pinned, head: Head, module: BounceModule, reset: ReadonlySet<string>): readonly string[] {
  const after = new Set(reset)
  const upstreamOf = (id: string) => pinned.dag.blocks[pinned.index.get(id) ?? -1]?.upstream ?? []
  for (const id of after) {
    for (const other of module.blocks) if (upstreamOf(other).includes(id)) after.add(other)
  }
  return [...after].filter((id) => !reset.has(id) && blockOutcome(pinned, head, id) === 'skipped')
}
