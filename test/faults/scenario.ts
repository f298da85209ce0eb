import { runIdOfIdempotencyKey } from '../../shared/runs/ids.ts'
import { chance, upTo } from '../integration/random-runs.ts'
import { type Act, planActs } from './acts.ts'
import { planAgentActs } from './agents/plan-agent-acts.ts'
import type { ServerRates } from './agents/simulated-server.ts'
import { hasBulk } from './do-in-bulk.ts'
import { hasErasures } from './erase-runs.ts'
import type { FaultRates, Outage } from './fault-plan.ts'
import { hasTriggers } from './fire-triggers.ts'
import { planEntries } from './plan-entries.ts'
import { planPivots } from './plan-pivots.ts'
import { planSmallRun, type SimulatedRun } from './plan-runs.ts'
import { planWaits, planWakes } from './plan-waits.ts'
import type { ProbeRates } from './probe.ts'
import { type Random, randomFrom } from './rng.ts'
import type { CallRates } from './simulated-calls.ts'
import type { StepRates } from './simulated-steps.ts'
import { hasTurns } from './take-turns.ts'

export const PROFILES = ['calm', 'storm', 'zombie', 'human', 'ops', 'swizzle'] as const
export type Profile = (typeof PROFILES)[number]

/** Everything a seed decides before anything happens. */
export interface Scenario {
  readonly profile: Profile
  readonly runs: readonly SimulatedRun[]
  readonly acts: readonly Act[]
  readonly rates: FaultRates
  readonly outages: readonly Outage[]
  readonly probe: ProbeRates
  readonly steps: StepRates
  readonly calls: CallRates
  readonly server: ServerRates
  /** From then on a tool of that server is another one, ms from the start. */
  readonly tool_changes_at?: number
  readonly most_faults: number
  /** Faults and people end here, ms from the start. */
  readonly calm_at: number
  readonly skew_ms: number
  readonly safety: Readonly<Record<string, unknown>>
  /** Whether Slack is configured. */
  readonly slack: boolean
  /** Whether webhooks are. */
  readonly webhooks: boolean
  /** Whether a document starts runs by itself. */
  readonly triggers: boolean
  /** Whether runs of a document take turns. */
  readonly turns: boolean
  /** Whether people erase and hold runs. */
  readonly erasures: boolean
  /** Whether one thing is done to many runs at once. */
  readonly bulk: boolean
  /** Settings of the simulated providers: how many calls of one may be under way. */
  readonly providers: Readonly<Record<string, object>>
  /** What calls use is counted by a cap that none of them meets. */
  readonly spending: boolean
  /** Whether searches go by meaning too. */
  readonly meaning: boolean
}

/** What is taken out of a failing scenario, to see whether it still fails. */
export interface Without {
  readonly faults: ReadonlySet<string>
  readonly acts: ReadonlySet<number>
  /** `<run>.<block id>`. */
  readonly blocks: ReadonlySet<string>
}

export const NOTHING: Without = { faults: new Set(), acts: new Set(), blocks: new Set() }

export function planScenario(seed: number, start: number, wanted?: Profile, without: Without = NOTHING): Scenario {
  const random = randomFrom(seed)
  const drawn = PROFILES[upTo(random, PROFILES.length - 1)] ?? 'storm'
  const profile = wanted ?? drawn
  const tenants = chance(random, 0.3) ? ['main', 'other'] : ['main']
  const safety = planSafety(randomFrom(seed * 23))
  // Where some have to wait there are more than places.
  const least = safety.queue === true ? Number(safety.max_runs) + 1 : 1
  const runs = Array.from({ length: Math.max(least, 1 + Math.floor(random() ** 3 * 3)) }, (_, i) => {
    // Each run draws from a stream of its own: taking out blocks of one leaves the others as they are.
    const own = randomFrom(seed * 31 + i)
    const gone = [...without.blocks].flatMap((name) => (name.startsWith(`${i}.`) ? [name.slice(2)] : []))
    const tenant = tenants[i % tenants.length] ?? 'main'
    const run_id = runIdOfIdempotencyKey(tenant, 'user:ana', 'POST /api/dag/run', keyOfRun(i))
    // Where there is a queue, next attempts at a goal meet others in it.
    const drawn = {
      run: own,
      steps: randomFrom(seed * 67 + i),
      calls: randomFrom(seed * 79 + i),
      agents: randomFrom(seed * 97 + i),
      fallbacks: seed * 83 + i,
    }
    const waits = planWaits(randomFrom(seed * 71 + i))
    return planSmallRun(drawn, { tenant, run_id }, new Set(gone), { goals: safety.queue === true ? 0.6 : 0.2, waits })
  })
  const strength = [0.3, 1, 2.5][upTo(random, 2)] ?? 1
  // Each minute has its sweep, and most of what happens comes early.
  const calm_at = 60_000 * (1 + upTo(random, 7))
  const isSkewed = profile !== 'calm' && chance(random, 0.3)
  const queues = safety.queue === true
  const asked = { profile, runs: runs.length, until: calm_at, queues }
  const webhooks = chance(randomFrom(seed * 53), 0.3)
  const acts = [
    ...planActs(randomFrom(seed * 17), asked),
    ...planPivots(randomFrom(seed * 37), asked),
    ...planEntries(randomFrom(seed * 41), asked),
    ...planPatches(randomFrom(seed * 61), asked.runs),
    ...planWakes(randomFrom(seed * 73), asked),
    ...planAgentActs(randomFrom(seed * 103), asked.runs),
    ...(webhooks ? planReplays(randomFrom(seed * 59), calm_at) : []),
  ]
  return {
    profile,
    runs,
    acts: acts.filter(({ id }) => !without.acts.has(id)),
    rates: scaled(RATES[profile], strength),
    outages: profile === 'swizzle' ? planOutages(randomFrom(seed * 13), start, calm_at) : [],
    probe: PROBES[profile],
    ...(profile === 'calm' ? CALM_WORK : WILD_WORK),
    ...planToolChange(randomFrom(seed * 101)),
    most_faults: profile === 'calm' ? 0 : 80,
    calm_at,
    skew_ms: isSkewed ? 600_000 : 0,
    safety,
    slack: chance(randomFrom(seed * 29), profile === 'human' ? 0.9 : 0.4),
    webhooks,
    triggers: hasTriggers(seed, isSkewed),
    turns: hasTurns(seed),
    erasures: hasErasures(seed),
    bulk: hasBulk(seed),
    providers: planProviders(randomFrom(seed * 19)),
    meaning: chance(randomFrom(seed * 43), 0.5),
    spending: chance(randomFrom(seed * 107), 0.4),
  }
}

/** Somebody looks after what endpoints did not take, mostly late. */
function planReplays(random: Random, until: number): readonly Act[] {
  return Array.from({ length: 2 }, (_, i): Act => {
    const dice = [random(), random(), random()] as const
    return { id: FIRST_REPLAY + i, at: Math.sqrt(random()) * until, kind: 'replay_dead', run: 0, dice }
  })
}

const FIRST_REPLAY = 8_000

/** Somebody patches the context early, while questions are open: of the run, of its children, about its gates. */
function planPatches(random: Random, runs: number): readonly Act[] {
  if (!chance(random, 0.5)) return []
  return Array.from({ length: 3 }, (_, i): Act => {
    const dice = [random(), random(), random()] as const
    return { id: FIRST_PATCH + i, at: random() * 60_000, kind: 'patch', run: upTo(random, runs - 1), dice }
  })
}

const FIRST_PATCH = 9_000

/** The Idempotency-Key a run is started with. */
export function keyOfRun(run: number): string {
  return `run-${run}`
}

const RATES: Readonly<Record<Profile, FaultRates>> = {
  calm: {},
  storm: {
    slow: 0.015,
    refused: 0.008,
    unanswered: 0.008,
    crash: 0.002,
    throttled: 0.02,
    lost: 0.01,
    late: 0.008,
    resent: 0.01,
    late_copy: 0.01,
    stale: 0.3,
    missing: 0.01,
    twice: 0.02,
    twice_at_once: 0.03,
    missed: 0.1,
    doubled: 0.1,
  },
  zombie: {
    slow: 0.01,
    crash: 0.006,
    zombie: 0.008,
    unanswered: 0.003,
    lost: 0.008,
    late: 0.005,
    late_copy: 0.01,
    resent: 0.005,
    twice: 0.05,
    twice_at_once: 0.08,
    never_run: 0.01,
    missed: 0.1,
    doubled: 0.2,
  },
  human: {
    slow: 0.02,
    refused: 0.002,
    unanswered: 0.004,
    throttled: 0.06,
    lost: 0.005,
    late: 0.005,
    twice_at_once: 0.02,
    late_copy: 0.005,
    missed: 0.05,
    doubled: 0.05,
  },
  ops: {
    slow: 0.01,
    crash: 0.002,
    zombie: 0.002,
    refused: 0.002,
    unanswered: 0.002,
    never_run: 0.02,
    stale: 0.2,
    missed: 0.4,
    doubled: 0.2,
  },
  swizzle: { slow: 0.005, unanswered: 0.003, resent: 0.005, twice_at_once: 0.02, missed: 0.1 },
}

const CALM_PROBE: ProbeRates = { bad: 0.15, blank: 0.02, fails: 0.03, refuses: 0.01, hangs: 0, strange: 0.02 }
const WILD_PROBE: ProbeRates = { bad: 0.15, blank: 0.03, fails: 0.1, refuses: 0.01, hangs: 0.03, strange: 0.05 }
const PROBES: Readonly<Record<Profile, ProbeRates>> = {
  calm: CALM_PROBE,
  storm: WILD_PROBE,
  zombie: WILD_PROBE,
  human: CALM_PROBE,
  ops: WILD_PROBE,
  swizzle: CALM_PROBE,
}

const CALM_STEPS: StepRates = {
  bad: 0.15,
  odd: 0.05,
  fails: 0.1,
  dies_early: 0,
  dies: 0,
  late: 0,
  doubled: 0,
  confused: 0,
}
const CALM_CALLS: CallRates = { bad: 0.15, odd: 0.05, fails: 0.1, throttled: 0, lost: 0, again: 0 }
const WILD_CALLS: CallRates = { bad: 0.3, odd: 0.15, fails: 0.1, throttled: 0.1, lost: 0.05, again: 0.2 }
const WILD_STEPS: StepRates = {
  bad: 0.15,
  odd: 0.1,
  fails: 0.1,
  dies_early: 0.05,
  dies: 0.1,
  late: 0.05,
  doubled: 0.15,
  confused: 0.15,
}

const CALM_SERVER: ServerRates = { away: 0, lost: 0, fails: 0.1, hangs: 0 }
const WILD_SERVER: ServerRates = { away: 0.06, lost: 0.25, fails: 0.1, hangs: 0.05 }

const CALM_WORK = { steps: CALM_STEPS, calls: CALM_CALLS, server: CALM_SERVER }
const WILD_WORK = { steps: WILD_STEPS, calls: WILD_CALLS, server: WILD_SERVER }

/** In the first minute: there most calls are. */
function planToolChange(random: Random): Pick<Scenario, 'tool_changes_at'> {
  return chance(random, 0.3) ? { tool_changes_at: random() * 60_000 } : {}
}

function scaled(rates: FaultRates, by: number): FaultRates {
  return Object.fromEntries(Object.entries(rates).map(([kind, rate]) => [kind, Math.min(0.5, rate * by)]))
}

const ADAPTERS = ['runs', 'objects', 'machine', 'outbox', 'providers', 'slack']

/** Each adapter away for a while, one after the other, back in any order. */
function planOutages(random: Random, start: number, calm_at: number): readonly Outage[] {
  return ADAPTERS.filter(() => chance(random, 0.6)).map((port) => {
    const from = start + random() * calm_at * 0.8
    return { port, from, to: from + random() ** 2 * 60_000 }
  })
}

function planSafety(random: Random): Readonly<Record<string, unknown>> {
  return {
    ...(chance(random, 0.4) ? { max_runs: 1 + upTo(random, 1), queue: chance(random, 0.7) } : {}),
    ...(chance(random, 0.3) ? { max_run_tokens: 4_000 + upTo(random, 60_000) } : {}),
    ...(chance(random, 0.1) ? { max_block_tokens: 4_000 + upTo(random, 16_000) } : {}),
    ...(chance(random, 0.1) ? { self_approval: false } : {}),
    // Answers of 100 KB are among those of the simulated models.
    ...(chance(random, 0.3) ? { max_run_bytes: 1_048_576 } : {}),
    ...(chance(random, 0.5) ? { max_tenant_bytes: 1_048_576 * (1 + upTo(random, 15)) } : {}),
    max_requests_per_min: 100_000,
    max_streams_per_caller: 1_000,
    max_streams: 1_000,
  }
}

/** Nobody calls the address: the simulation has providers of its own. */
function planProviders(random: Random): Readonly<Record<string, object>> {
  if (!chance(random, 0.3)) return {}
  const limited = (max_concurrency: number) => ({ type: 'http', url: 'https://example.com/', max_concurrency })
  const probe = limited(1 + upTo(random, 2))
  return { probe, spare: limited(1), judge: limited(1), extractive: limited(1), meaning: limited(1) }
}
