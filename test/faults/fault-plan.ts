import { hashed } from './rng.ts'

/** What can go wrong at a point (docs/faults.md, "What goes wrong"). */
export const FAULT_KINDS = [
  /** A call takes up to a minute. */
  'slow',
  /** It is refused (503, throttled) and nothing was done. */
  'refused',
  /** It was done, but its caller is told that it failed. */
  'unanswered',
  /** The function dies here. */
  'crash',
  /** Its caller is told that it died, while it goes on. */
  'zombie',
  /** Requests to the table: throttled; lost on the way; done up to 250 ms after the client gave up. */
  'throttled',
  'lost',
  'late',
  /** Sent again by the client although the first one was done; a copy of it arrives up to 250 ms later. */
  'resent',
  'late_copy',
  /** An eventually consistent read answers what was there before. */
  'stale',
  /** An object is not there yet right after it was put. */
  'missing',
  /** A function is called again after it ended; twice at once; not at all. */
  'twice',
  'twice_at_once',
  'never_run',
  /** A call nobody waits for (a nudge, a sweep, word of an execution's end) never arrives, or comes twice. */
  'missed',
  'doubled',
] as const
export type FaultKind = (typeof FAULT_KINDS)[number]

/** How likely each kind is at each point where it can happen. */
export type FaultRates = Readonly<Partial<Record<FaultKind, number>>>

/** From when to when an adapter answers nobody (swizzle). */
export interface Outage {
  readonly port: string
  readonly from: number
  readonly to: number
}

export interface InjectedFault {
  readonly at: number
  /** Stays the same when other faults are taken out. */
  readonly name: string
  readonly kind: FaultKind
}

export interface FaultPlan {
  /** Counts the point, and draws what happens there: `where` is the point itself, `who` tells its calls apart. */
  strike(where: string, who: string, kinds: readonly FaultKind[], port?: string): FaultKind | undefined
  /** Counts a call that nothing happens to. */
  seen(where: string): void
  /** How often this was asked for that name, from 1. */
  times(name: string): number
  /** A number in [0, 1) for the size of the last fault. */
  size(): number
  /** No fault from now on. */
  end(): void
  readonly injected: readonly InjectedFault[]
  /** How often each point was reached; how often each kind happened there. */
  readonly reached: ReadonlyMap<string, number>
  readonly struck: ReadonlyMap<string, number>
}

interface PlanOptions {
  readonly seed: number
  readonly rates: FaultRates
  readonly outages: readonly Outage[]
  readonly most: number
  readonly skip: ReadonlySet<string>
  now(): number
}

export function createFaultPlan(options: PlanOptions): FaultPlan {
  const { seed, rates, outages, most, skip } = options
  const injected: InjectedFault[] = []
  const reached = new Map<string, number>()
  const struck = new Map<string, number>()
  const times = new Map<string, number>()
  const calls = new Map<string, Map<string, number>>()
  let over = false
  let last = ''
  const note = (name: string, kind: FaultKind, where: string): FaultKind | undefined => {
    if (skip.has(name)) return undefined
    last = name
    injected.push({ at: options.now(), name, kind })
    count(struck, `${kind} ${where}`)
    return kind
  }
  return {
    strike(where, who, kinds, port) {
      count(reached, where)
      if (over) return undefined
      if (port !== undefined && isOut(outages, port, options.now())) return note(`outage ${port}`, 'refused', where)
      const name = `${who} ${where} ${count(calls.get(where) ?? added(calls, where), who)}`
      if (injected.length >= most) return undefined
      const kind = drawn(kinds, rates, hashed(seed, name) / oftenAt(where))
      return kind === undefined ? undefined : note(name, kind, where)
    },
    seen: (where) => void count(reached, where),
    times: (name) => count(times, name),
    size: () => hashed(seed + 1, last),
    end() {
      over = true
    },
    injected,
    reached,
    struck,
  }
}

function added(calls: Map<string, Map<string, number>>, where: string): Map<string, number> {
  const made = new Map<string, number>()
  calls.set(where, made)
  return made
}

/** Few seeds call them: faults are so many times as likely there. */
const SELDOM_CALLED: ReadonlyMap<string, number> = new Map([['pivot-run', 12]])

function oftenAt(where: string): number {
  return SELDOM_CALLED.get(where.slice(0, where.indexOf('/'))) ?? 1
}

function drawn(kinds: readonly FaultKind[], rates: FaultRates, dice: number): FaultKind | undefined {
  let left = dice
  for (const kind of kinds) {
    left -= rates[kind] ?? 0
    if (left < 0) return kind
  }
  return undefined
}

function isOut(outages: readonly Outage[], port: string, now: number): boolean {
  return outages.some((outage) => outage.port === port && outage.from <= now && now < outage.to)
}

function count(counts: Map<string, number>, name: string): number {
  const n = (counts.get(name) ?? 0) + 1
  counts.set(name, n)
  return n
}
