/** A block, or one item of a foreach block. */
export interface LaneOwner {
  readonly block: number
  readonly item?: number
}

/** The lane of a block (`3`) or of one item of it (`3.12`) in HEAD (docs/architecture.md, "Lanes and ordinals"). */
export function laneKey({ block, item }: LaneOwner): string {
  return item === undefined ? String(block) : `${block}.${item}`
}

/** The lane of a bounce module (`m0`): it moves whenever the module is sent back. */
export function moduleLane({ key }: { readonly key: number }): string {
  return `m${key}`
}

/** The inverse of `laneKey`: undefined for lanes of other kinds (`run`, `a3`, `m0`). */
export function laneOwner(lane: string): LaneOwner | undefined {
  const [, block, item] = /^(\d+)(?:\.(\d+))?$/.exec(lane) ?? []
  if (block === undefined) return undefined
  return { block: Number(block), ...(item === undefined ? {} : { item: Number(item) }) }
}

/**
 * The place of one step in a lane's history, packed so that later is larger: epoch*1e6 + attempt*1e3 + leg*100 + phase
 * (docs/architecture.md, "Lanes and ordinals"). Terminal phases are 90..93 so that HEAD alone tells an upstream's
 * outcome (docs/adr/0008); every terminal write is guarded by "below 90 of this leg", whichever of the four it sets. An
 * attempt has one leg, and one more after each question a person was asked in the middle of it (docs/adr/0038).
 */
export const PHASE = {
  /** And the 8 after it: verdicts a person waived, before the attempt goes on. First of a leg but the first leg. */
  answered: 1,
  claimed: 10,
  /** And the 19 after it: a reservation each. */
  reserved: 20,
  /** The work of a step has begun, which reserves nothing itself; the 18 after it: how far it is. */
  begun: 20,
  output: 30,
  /** And the 6 after it: a wait that is open, and events that its `match` could not judge. */
  waiting: 31,
  /** What a wait was for has come, or its time. */
  woken: 38,
  gates: 40,
  retrying: 50,
  /** A person is asked about the attempt: the last step of its leg, unless the block ends here. */
  asked: 60,
  completed: 90,
  failed: 91,
  skipped: 92,
  cancelled: 93,
} as const

export type Outcome = 'completed' | 'failed' | 'skipped' | 'cancelled'

interface Position {
  readonly epoch: number
  readonly attempt: number
  readonly phase: number
}

/** Ordinal of a step; epoch from 0, attempt 0 (skipped before any attempt) to 999, leg 0 to 9, phase 0 to 99. */
export function ordinal({ epoch, attempt, leg = 0, phase }: Position & { readonly leg?: number }): number {
  return epoch * 1_000_000 + attempt * 1_000 + leg * 100 + phase
}

/** The inverse of `ordinal`, with the outcome when the phase is a terminal one. */
export function readOrdinal(value: number): Position & { readonly leg: number; readonly outcome?: Outcome } {
  const phase = value % 100
  const attempt = Math.floor(value / 1_000) % 1_000
  const position = { epoch: Math.floor(value / 1_000_000), attempt, leg: Math.floor(value / 100) % 10, phase }
  const outcome = OUTCOMES[phase]
  return outcome === undefined ? position : { ...position, outcome }
}

const OUTCOMES: Readonly<Record<number, Outcome>> = {
  [PHASE.completed]: 'completed',
  [PHASE.failed]: 'failed',
  [PHASE.skipped]: 'skipped',
  [PHASE.cancelled]: 'cancelled',
}

/** The last leg of an attempt: so many questions at the most are asked in it. */
export const LAST_LEG = 9

/** Whether a person is, or was, asked about the attempt of this lane, and what follows from the answer is not all told. */
export function hasOpenQuestion(value: number): boolean {
  const { leg, phase } = readOrdinal(value)
  return phase === PHASE.asked || (leg > 0 && phase < PHASE.claimed)
}

/** Whether a wait is open: nothing of ours runs for it. Reservations of other blocks have such phases while they run. */
export function isOpenWait(value: number): boolean {
  const { phase } = readOrdinal(value)
  return phase >= PHASE.waiting && phase < PHASE.woken
}

/** The leg in which whoever works on the lane as it stands writes. */
export function workingLeg(value: number): number {
  const { leg, phase } = readOrdinal(value)
  return phase === PHASE.asked ? leg + 1 : leg
}

/** In the order of the document, items after their block. */
export function byLane(a: string, b: string): number {
  const [left, right] = [laneOwner(a), laneOwner(b)]
  return (left?.block ?? -1) - (right?.block ?? -1) || (left?.item ?? -1) - (right?.item ?? -1)
}
