import { approvalEpoch } from '../../shared/runs/approval-epoch.ts'
import { askId, askNumber } from '../../shared/runs/ask-id.ts'
import type { EventData } from '../../shared/runs/event.ts'
import type { Head } from '../../shared/runs/head.ts'
import { laneOwner } from '../../shared/runs/lane-key.ts'
import { isAsked, LAST_LEG } from '../../shared/runs/legs.ts'
import type { BlockCall, BlockInputs } from './block-call.ts'
import type { Failure } from './end-attempt.ts'
import { storeInputs } from './item-inputs.ts'
import { raiseFor } from './raise-for.ts'

type Asked = EventData<'block:asked'>

/** Questions of one block in one epoch: further ones are not asked, the attempt fails as without. */
const MOST_ASKS = 20
/** Questions of a run, approvals among them, before blocks ask no more: HEAD keeps each (about 400 bytes), and an item has 400 KB. */
const MOST_OF_RUN = 200
const GATES_BYTES = 300

interface Ending {
  readonly failure: Failure | undefined
  readonly leg: number
  /** What the attempt works with, if it is needed again. */
  readonly inputs: BlockInputs | undefined
}

/**
 * What a person is asked instead of an end of the attempt in failure; undefined = nothing. Gates with `on_fail: ask` ask
 * for a waiver, a call that does not fit under the run's caps asks for more where the document says so.
 */
export async function questionFor(call: BlockCall, ending: Ending): Promise<Asked | undefined> {
  const { failure, leg } = ending
  if (failure === undefined || leg >= LAST_LEG) return undefined
  const about = aboutOf(call, failure)
  const place = about === undefined ? undefined : await placeOf(call, about)
  if (about === undefined || place === undefined) return undefined
  const gates = fewOf(about === 'budget' ? [] : (failure.gates ?? []))
  const inputs = about === 'post_gates' ? {} : await keptInputs(call, ending)
  return { ...place, about, gates, reason: failure.reason, ...inputs }
}

/** Its id, and what a yes raises; undefined where nobody may be asked any more, or nothing may be raised. */
async function placeOf(
  call: BlockCall,
  about: Asked['about'],
): Promise<Pick<Asked, 'approval_id' | 'raise'> | undefined> {
  const head = await call.world.runs.head(call.run)
  const approval_id = head === undefined ? undefined : nextAsk(call, head)
  if (head === undefined || approval_id === undefined) return undefined
  if (about !== 'budget') return { approval_id }
  const raise = await raiseFor(call, head.budget)
  return raise === undefined ? undefined : { approval_id, raise }
}

function aboutOf({ dag, meter }: BlockCall, { ask, code }: Failure): Asked['about'] | undefined {
  if (ask !== undefined) return ask
  const isOver = code === 'budget_exceeded' && meter.exceeded?.of.startsWith('run_') === true
  return isOver && dag.budget?.on_exceed === 'ask' ? 'budget' : undefined
}

/** Those of items are kept with their block. */
async function keptInputs(call: BlockCall, { inputs }: Ending): Promise<Pick<Asked, 'inputs_ref'>> {
  return call.item !== undefined || inputs === undefined ? {} : { inputs_ref: await storeInputs(call, inputs) }
}

/** Items of a block wait for one answer: one that comes while another waits joins its question. */
function nextAsk({ run, block, item, epoch }: BlockCall, head: Head): string | undefined {
  const { approvals } = head
  const asked = Object.entries(approvals).flatMap(([id, { block: of, status }]) => {
    const n = askNumber(id)
    return of === block.index && n !== undefined && approvalEpoch(id) === epoch ? [{ id, n, status }] : []
  })
  const last = asked.toSorted((a, b) => a.n - b.n).at(-1)
  if (item !== undefined && last?.status === 'pending') return last.id
  const n = (last?.n ?? 0) + 1
  return n > MOST_ASKS || questionsOf(head) >= MOST_OF_RUN ? undefined : askId(run.run_id, block.index, epoch, n)
}

/** Those of blocks that wait to ask among them; items of a block wait for one. */
function questionsOf({ approvals, lanes }: Head): number {
  const waiting = Object.entries(lanes).flatMap(([lane, at]) => (isAsked(at) ? [laneOwner(lane)?.block] : []))
  const open = Object.entries(approvals).filter(
    ([id, { status }]) => status === 'pending' && askNumber(id) !== undefined,
  )
  return Object.keys(approvals).length - open.length + new Set(waiting).size
}

/** The first names, as many as the event has room for; the verdicts tell of all. */
function fewOf(names: readonly string[]): string[] {
  let bytes = 0
  return names.filter((name) => {
    bytes += Buffer.byteLength(name)
    return bytes <= GATES_BYTES
  })
}
