import type { KeptCall } from '../../shared/kept-call.ts'
import { NOTHING, plus } from '../../shared/runs/amounts.ts'
import type { LaneStands } from '../../shared/runs/append.ts'
import type { EventData, RunEvent } from '../../shared/runs/event.ts'
import type { Head } from '../../shared/runs/head.ts'
import { PHASE, readOrdinal } from '../../shared/runs/ordinal.ts'
import type { Amount, Spent } from '../../shared/runs/run-budget.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { allEvents } from '../runs/all-events.ts'

/** What the model calls of one invocation have reserved and used: all of a StageCall that changes. */
export interface StageMeter {
  /** Where the stage's own lane stands, as far as this invocation knows. */
  lane: number | null
  /** Set aside by invocations that died before they recorded what they used: it counts as used. */
  readonly lost: Amount
  /** Lanes of stages that failed with something set aside: nobody may write there meanwhile. */
  readonly left: readonly LaneStands[]
  /** Set aside by this invocation, whatever it used of it. */
  reserved: Amount
  used: Spent
  /** Whether the price of every call was known; undefined: there was none. */
  priced: boolean | undefined
  retries: number
  readonly calls: KeptCall[]
  exceeded: EventData<'budget:exceeded'> | undefined
}

interface Place {
  readonly run: RunKey
  readonly head: Head
  readonly lane: string
  readonly step: number
}

/** The last stage of the chain: what others left is told with its answer. */
const LAST = 's4'

/** The events are read only where somebody left a reservation behind. */
export async function openStageMeter(
  world: Pick<World, 'runs'>,
  { run, head, lane, step }: Place,
): Promise<StageMeter> {
  const own = head.lanes[lane] ?? null
  const left = lane === LAST ? unfinished(head) : []
  const mine = own !== null && readOrdinal(own).attempt === step && isReserved(own) ? [{ lane, is: own }] : []
  const open = [...mine, ...left]
  const lost = open.length === 0 ? NOTHING : reservedOn(await allEvents(world, run), open)
  const nothing = { reserved: NOTHING, used: NOTHING, priced: undefined, retries: 0, calls: [], exceeded: undefined }
  return { lane: own, lost, left, ...nothing }
}

function unfinished({ lanes }: Head): readonly LaneStands[] {
  return Object.entries(lanes).flatMap(([lane, is]) => (/^s[0-3]$/.test(lane) && isReserved(is) ? [{ lane, is }] : []))
}

/** Between the first reservation of a step and its record. */
function isReserved(lane: number): boolean {
  const { phase } = readOrdinal(lane)
  return phase >= PHASE.reserved && phase < PHASE.output
}

/** What was set aside on these lanes in the step each is at. */
function reservedOn(events: readonly RunEvent[], lanes: readonly LaneStands[]): Amount {
  const steps = new Map(lanes.map(({ lane, is }) => [lane, readOrdinal(is ?? 0).attempt]))
  return events.reduce((sum, { id, type, data }) => {
    const [lane = '', place] = id.split('/')
    const isOpen = type === 'budget:reserved' && steps.get(lane) === readOrdinal(Number(place)).attempt
    return isOpen ? plus(sum, data) : sum
  }, NOTHING)
}
