import { type ActingBlock, isActing } from '../../shared/agents/agent-items.ts'
import { toolNamed } from '../../shared/agents/transcript.ts'
import { type AskedCall, TURN_PORT, type TurnRecord, TurnRecordSchema } from '../../shared/agents/turn-record.ts'
import {
  GET_TRANSCRIPT,
  type TranscriptCall,
  type TranscriptQuestion,
  type TranscriptTurn,
} from '../../shared/api/transcript-route.ts'
import type { Block } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import type { RunEvent, StoredValue } from '../../shared/runs/event.ts'
import type { ApprovalFold, RunFold } from '../../shared/runs/run-fold.ts'
import type { KeptTurns, RunKey } from '../../shared/runs/run-store.ts'
import { callItem, readAgentItem, turnItem } from '../../shared/runs/turns-and-calls.ts'
import { canonicalJson, type Json } from '../../shared/text/json.ts'
import {
  callState,
  eventsOfItems,
  gatesIn,
  type ItemEvents,
  itemState,
  outputIn,
  questionsOf,
  startIn,
  turnsIn,
  viewItem,
  viewQuestion,
} from '../../shared/views/transcript.ts'
import type { World } from '../../shared/world.ts'
import { httpHandler } from '../http-handler.ts'
import { readPinned } from '../record/pinned-run.ts'
import { readLog } from '../record/run-log.ts'
import { readPatiently } from '../record/stored-run.ts'
import { requireBlock, requireRun } from '../require-run.ts'

/** What an agent said and did, made of the events of its run and of what they refer to, each time. */
export const handler = httpHandler({
  name: 'get-transcript',
  schema: GET_TRANSCRIPT,
  run: async (call, world) => {
    const { block_id } = call.params
    const { turn: first, limit } = call.query
    const { run } = await requireRun(world, call)
    const block = requireActing(requireBlock((await readPinned(world, run)).dag, block_id))
    const passes = await openPasses(world, run, block, call.query.epoch)
    const own = passes.at(-1)
    const places = passes.flatMap((pass) => pass.turns.map((turn) => ({ pass, turn })))
    const wanted = places.filter(({ turn }) => turn + 1 >= first)
    const room = { left: ROOM }
    const turns: TranscriptTurn[] = []
    for (const { pass, turn } of wanted.slice(0, limit)) {
      if (turns.length > 0 && room.left <= 0) break
      turns.push(await viewTurn(pass, turn, room))
    }
    const next = wanted[turns.length]
    const { state, attempt = 0, epoch = 0 } = own?.block ?? {}
    return {
      json: {
        ...{ run_id: run.run_id, block_id, state: state ?? unseenState(own?.fold), epoch: call.query.epoch ?? epoch },
        ...{ attempt, turns_total: places.length, turns },
        ...(next === undefined ? {} : { next_turn: next.turn + 1 }),
      },
    }
  },
})

function requireActing(block: Block): ActingBlock {
  if (isActing(block)) return block
  const message = `Cannot show a transcript of block "${block.id}": it is no agent with tools. GET .../blocks/${block.id} has its attempts.`
  throw new Fault('NotFound', 'no_transcript', message)
}

function unseenState(fold: RunFold | undefined): string {
  return fold?.state === 'running' ? 'pending' : 'cancelled'
}

/** The turns of one run that stand in the transcript, and what they are told from. */
interface Pass {
  readonly acting: ActingBlock
  readonly epoch: number
  readonly fold: RunFold
  readonly block: RunFold['blocks'][string] | undefined
  /** Of another run, whose turns were kept. */
  readonly from_run?: string
  readonly events: readonly RunEvent[]
  readonly items: ItemEvents
  readonly turns: readonly number[]
  readonly read: (ref: string) => Promise<Uint8Array | undefined>
}

type ReadWorld = Pick<World, 'runs' | 'objects' | 'clock'>

/** Of the run itself, after those of the runs before it whose turns a retry kept; oldest first. */
async function openPasses(
  world: ReadWorld,
  run: RunKey,
  acting: ActingBlock,
  epoch: number | undefined,
): Promise<readonly Pass[]> {
  const own = await openPass(world, run, acting, epoch)
  const passes = [own]
  let [key, at, below] = [run, own.epoch, Number.POSITIVE_INFINITY]
  for (;;) {
    const kept = at > 0 ? undefined : await keptBefore(world, key, acting.id)
    if (kept === undefined) return passes
    const block = (await readPinned(world, kept.run)).dag.blocks.find(({ id }) => id === acting.id)
    if (!isActing(block)) return passes
    below = Math.min(below, kept.turns)
    const earlier = await openPass(world, kept.run, block, undefined)
    const turns = earlier.turns.filter((turn) => turn < below)
    passes.unshift({ ...earlier, turns, from_run: kept.run.run_id })
    ;[key, at] = [kept.run, earlier.epoch]
  }
}

async function keptBefore(
  world: ReadWorld,
  run: RunKey,
  block: string,
): Promise<(KeptTurns & { readonly run: RunKey }) | undefined> {
  const { transcript, run_id } = (await readPinned(world, run)).meta.retry_of ?? {}
  if (transcript?.block !== block || run_id === undefined) return undefined
  return { ...transcript, run: { tenant: run.tenant, run_id } }
}

async function openPass(world: ReadWorld, run: RunKey, acting: ActingBlock, wanted: number | undefined): Promise<Pass> {
  const { events, fold } = await readLog(world, run)
  const block = Object.hasOwn(fold.blocks, acting.id) ? fold.blocks[acting.id] : undefined
  const epoch = wanted ?? block?.epoch ?? 0
  const items = eventsOfItems(events, acting.id, epoch)
  const read = readPatiently(world, run.tenant)
  return { acting, epoch, fold, block, events, items, turns: turnsIn(items), read }
}

/** Of all texts of one answer, in characters: a function answers at most 6 MB, and a character may take six bytes. */
const ROOM = 900_000

/** Characters that one answer still has room for. */
interface Room {
  left: number
}

/** Characters of what was said or told, and of arguments and results, that are shown. */
const MOST_SAID = 32_768
const MOST_OF_CALL = 8_192

async function viewTurn(pass: Pass, turn: number, room: Room): Promise<TranscriptTurn> {
  const item = turnItem(turn)
  const own = pass.items.get(item) ?? []
  const { provider, model, finish_reason, note } = outputIn(own) ?? {}
  const record = await readRecord(pass, own)
  const questions = await viewQuestions(pass, item)
  const said =
    record === undefined
      ? {}
      : {
          ...(record.told === undefined ? {} : fitting('told', record.told, MOST_SAID, room)),
          ...fitting('text', record.text, MOST_SAID, room),
          tainted: record.tainted,
        }
  const calls = await viewCalls(pass, turn, record, room)
  return {
    turn: turn + 1,
    ...viewItem(item, own),
    ...(pass.from_run === undefined ? {} : { from_run: pass.from_run }),
    state: itemState(own, { isOver: isOver(pass), asked: askedOf(pass, item) }),
    ...said,
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
    ...(finish_reason === undefined ? {} : { finish_reason }),
    ...(note === undefined ? {} : { note }),
    ...questions,
    calls,
  }
}

async function readRecord(pass: Pass, own: readonly RunEvent[]): Promise<TurnRecord | undefined> {
  const stored = outputIn(own)?.outputs[TURN_PORT]
  const value = stored === undefined ? undefined : await readValue(pass, stored)
  return value === undefined ? undefined : TurnRecordSchema.parse(value)
}

async function readValue({ read }: Pass, { ref }: StoredValue): Promise<Json | undefined> {
  const body = await read(ref)
  return body === undefined ? undefined : JSON.parse(Buffer.from(body).toString('utf8'))
}

function isOver({ block, epoch, fold }: Pass): boolean {
  if (fold.state !== 'running' || block === undefined || block.epoch !== epoch) return true
  return block.state === 'completed' || block.state === 'failed' || block.state === 'cancelled'
}

function askedOf({ fold, acting, epoch }: Pass, item: number): readonly ApprovalFold[] {
  return questionsOf(fold.approvals, { block_id: acting.id, item, epoch })
}

/** The beginning of a text, and how many characters of it are left out. */
function fitting<K extends string>(
  name: K,
  text: string,
  most: number,
  room: Room,
): { readonly [P in K]: string } & { readonly [P in `${K}_cut`]?: number } {
  const shown = text.slice(0, Math.max(0, Math.min(most, room.left))).toWellFormed()
  room.left -= shown.length
  const cut = text.length - shown.length
  // One member of a computed name, which TypeScript widens to any text.
  return { [name]: shown, ...(cut > 0 ? { [`${name}_cut`]: cut } : {}) } as never
}

/** As the turn asked for them; of one whose record is gone as their events tell. */
async function viewCalls(
  pass: Pass,
  turn: number,
  record: TurnRecord | undefined,
  room: Room,
): Promise<readonly TranscriptCall[]> {
  const begun = [...pass.items.keys()].map(readAgentItem).filter((item) => item.turn === turn)
  const most = Math.max(record?.calls.length ?? 0, ...begun.map(({ call = 0 }) => call))
  const read = Array.from({ length: most }, async (_, index) => {
    const item = callItem(turn, index + 1)
    const own = pass.items.get(item) ?? []
    const result = await readResult(pass, own)
    return {
      call: index + 1,
      item,
      own,
      asked: record?.calls[index],
      result,
      questions: await viewQuestions(pass, item),
    }
  })
  return (await Promise.all(read)).map((one) => viewCall(pass, one, room))
}

interface ReadCall {
  readonly call: number
  readonly item: number
  readonly own: readonly RunEvent[]
  readonly asked: AskedCall | undefined
  readonly result: string | undefined
  readonly questions: Pick<TranscriptCall, 'approvals'>
}

function viewCall(pass: Pass, { call, item, own, asked, result, questions }: ReadCall, room: Room): TranscriptCall {
  const started = startIn(own)
  const output = outputIn(own)
  const view = viewItem(item, own)
  const state = itemState(own, { isOver: isOver(pass), asked: askedOf(pass, item) })
  const tool = asked?.tool ?? started?.call?.tool ?? ''
  return {
    call,
    ...view,
    tool,
    use: toolNamed(pass.acting.agent.acting, tool)?.use ?? started?.call?.use ?? tool,
    state: callState(state, view.error),
    ...(asked === undefined ? {} : fitting('arguments', asked.arguments, MOST_OF_CALL, room)),
    ...(result === undefined ? {} : fitting('result', result, MOST_OF_CALL, room)),
    ...(output === undefined ? {} : { outputs: output.outputs }),
    gates: gatesIn(own),
    ...questions,
    ...(started?.child === undefined ? {} : { child: started.child }),
    ...(output?.log === undefined ? {} : { log: output.log }),
  }
}

/** More than this of a value is not read for its beginning. */
const MOST_BYTES = 262_144

/** A text alone as it is, else all outputs as JSON; undefined of a call that gave nothing, or too much. */
async function readResult(pass: Pass, own: readonly RunEvent[]): Promise<string | undefined> {
  const outputs = Object.entries(outputIn(own)?.outputs ?? {})
  if (outputs.length === 0 || outputs.some(([, { bytes }]) => bytes > MOST_BYTES)) return undefined
  const values: Record<string, Json> = {}
  for (const [port, stored] of outputs) {
    const value = await readValue(pass, stored)
    if (value === undefined) return undefined
    values[port] = value
  }
  const [only] = Object.values(values)
  return outputs.length === 1 && typeof only === 'string' ? only : canonicalJson(values)
}

async function viewQuestions(
  pass: Pass,
  item: number,
): Promise<{ readonly approvals?: readonly TranscriptQuestion[] }> {
  const asked = askedOf(pass, item)
  if (asked.length === 0) return {}
  return { approvals: await Promise.all(asked.map(async (one) => viewQuestion(one, await readSaid(pass, one)))) }
}

const MOST_FEEDBACK = 3_000

async function readSaid(
  { read }: Pass,
  { feedback_ref, edits_ref }: ApprovalFold,
): Promise<Pick<TranscriptQuestion, 'feedback' | 'edits'>> {
  const words = feedback_ref === undefined ? undefined : await read(feedback_ref)
  const edits = edits_ref === undefined ? undefined : await read(edits_ref)
  return {
    ...(words === undefined
      ? {}
      : { feedback: Buffer.from(words).toString('utf8').slice(0, MOST_FEEDBACK).toWellFormed() }),
    ...(edits === undefined ? {} : { edits: JSON.parse(Buffer.from(edits).toString('utf8')) }),
  }
}
