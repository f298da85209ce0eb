import type { ActingBlock } from '../../../shared/agents/agent-items.ts'
import type { ItemEnds } from '../../../shared/agents/rounds.ts'
import type { CallEnd, PastTurn } from '../../../shared/agents/transcript.ts'
import { TURN_PORT, TurnRecordSchema } from '../../../shared/agents/turn-record.ts'
import { laneOwner, readOrdinal } from '../../../shared/runs/lane.ts'
import type { BlockProjection } from '../../../shared/runs/run-store-items.ts'
import { isRefused, readAgentItem } from '../../../shared/runs/turns-and-calls.ts'
import { readPinned } from '../../record/pinned-run.ts'
import { freshItemProjections, readPortValues } from '../../record/projections.ts'
import { toldValues } from '../agent-files.ts'
import type { BlockCall } from '../block-call.ts'
import { wordsOf } from './attempt-work.ts'

/** What an agent that acts has done in this pass, as its record says. */
export interface Rounds {
  readonly ends: ItemEnds
  /** Items of this run itself. */
  readonly own: number
  /** Of items that have ended. */
  readonly projections: ReadonlyMap<number, BlockProjection>
}

/** Turns that were kept of an earlier run come first. */
export async function readRounds(call: RoundsCall): Promise<Rounds> {
  const { world, run, block, epoch } = call
  const kept = await keptProjections(call)
  const lanes = Object.entries((await world.runs.head(run))?.lanes ?? {}).flatMap(([key, lane]) => {
    const owner = laneOwner(key)
    if (owner?.block !== block.index || owner.item === undefined || readOrdinal(lane).epoch !== epoch) return []
    return [[owner.item, lane] as const]
  })
  const ends = new Map(lanes.map(([item, lane]) => [item, readOrdinal(lane).outcome]))
  const ended = new Map(lanes.filter(([, lane]) => readOrdinal(lane).outcome !== undefined))
  const own = await freshItemProjections(world, run, block.index, ended)
  const before = [...kept].map(([item, { ordinal }]) => [item, readOrdinal(ordinal).outcome] as const)
  return { ends: new Map([...before, ...ends]), own: ends.size, projections: new Map([...kept, ...own]) }
}

type RoundsCall = Pick<BlockCall, 'world' | 'run' | 'block' | 'epoch' | 'meta'>

/** Items of the turns that a retry kept of the run before it, and that of the one before, as far as they go. */
async function keptProjections({
  world,
  run,
  meta,
  block,
  epoch,
}: RoundsCall): Promise<ReadonlyMap<number, BlockProjection>> {
  const { transcript, run_id } = meta.retry_of ?? {}
  if (transcript?.block !== block.id || run_id === undefined || epoch > 0) return new Map()
  const earlier = { tenant: run.tenant, run_id }
  const pinned = await readPinned(world, earlier)
  const whole = pinned.dag.blocks[pinned.index.get(block.id) ?? -1]
  if (whole === undefined) return new Map()
  const items = await world.runs.itemProjections(earlier, whole.index)
  const pass = Math.max(0, ...items.map(({ ordinal }) => readOrdinal(ordinal).epoch))
  const own = items.flatMap((one) => {
    const { item = 0, ordinal } = one
    const isKept = readAgentItem(item).turn < transcript.turns && readOrdinal(ordinal).outcome !== undefined
    return isKept && readOrdinal(ordinal).epoch === pass ? [[item, one] as const] : []
  })
  const before = await keptProjections({ world, run: earlier, meta: pinned.meta, block: whole, epoch: pass })
  const kept = [...before].filter(([item]) => readAgentItem(item).turn < transcript.turns)
  return new Map([...kept, ...own])
}

/** Calls that were refused since this attempt of the block began. */
export function refusedCalls({ projections }: Rounds, first: number): number {
  return [...projections].filter(([item, { state, failure }]) => {
    return readAgentItem(item).turn >= first && isRefused({ state, error: failure })
  }).length
}

/** A person said no to a call, and to everything after it. */
export function isStoppedByPerson({ projections }: Rounds, first: number): boolean {
  return [...projections].some(([item, { failure }]) => {
    return readAgentItem(item).turn >= first && failure?.code === 'agent_stopped'
  })
}

/** The turns before one, in order, and what their calls came to. */
export async function readPast(
  call: BlockCall,
  _whole: ActingBlock,
  rounds: Rounds,
  before: number,
): Promise<{ readonly turns: readonly PastTurn[]; readonly ends: ReadonlyMap<number, CallEnd> }> {
  const turns: PastTurn[] = []
  const ends = new Map<number, CallEnd>()
  for (const [item, projection] of [...rounds.projections].sort(([a], [b]) => a - b)) {
    const { turn, call: n } = readAgentItem(item)
    if (turn >= before) continue
    if (n !== undefined) ends.set(item, await endOfCall(call, projection))
    else if (projection.state === 'completed') {
      const values = await readPortValues(call.world, call.run.tenant, projection.outputs ?? {})
      turns.push({ turn, record: TurnRecordSchema.parse(values[TURN_PORT]) })
    }
  }
  return { turns, ends }
}

/** Codes of calls that were not made; a gate behind a call may quote what came back. */
const NOT_MADE: ReadonlySet<string> = new Set(['pre_gate_failed', 'ask_rejected', 'ask_expired', 'agent_stopped'])

async function endOfCall(call: BlockCall, { state, outputs = {}, failure, made }: BlockProjection): Promise<CallEnd> {
  if (state !== 'completed') {
    const refused = failure === undefined || NOT_MADE.has(failure.code) ? { refused: true as const } : {}
    return { text: failure?.reason ?? `The call was ${state}.`, is_error: true, ...refused }
  }
  const theirs = made?.tainted === true ? { tainted: true as const } : {}
  const values = await readPortValues(call.world, call.run.tenant, outputs)
  const inputs = Object.fromEntries(
    Object.keys(values).map((port) => [port, { type: 'json' as const, required: false }]),
  )
  const told = await toldValues({ ...call, block: { ...call.block, inputs } }, values)
  return { text: shortened(wordsOf(told.values)), is_error: false, ...theirs }
}

/** Characters of one result that a model is shown. */
const MOST = 65_536

function shortened(text: string): string {
  const more = text.length - MOST
  return more <= 0 ? text : `${text.slice(0, MOST).toWellFormed()}… (${more} more characters; ask for less)`
}
