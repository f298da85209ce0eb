import { readCallName } from '../../shared/dag/native-call.ts'
import type { DescribedStep } from '../../shared/steps/described-step.ts'
import {
  type StepOrder,
  StepOrderSchema,
  type StepOutcome,
  type StepReport,
  type StepStart,
} from '../../shared/steps/step-order.ts'
import type { Steps } from '../../shared/steps/steps-port.ts'
import { sha256 } from '../../shared/text/hash.ts'
import type { MemoryObjects } from './memory-objects.ts'
import { hashed } from './rng.ts'
import type { Sim } from './sim.ts'

/** Programs of the simulated project, by how often their work may be done. */
export const STEPS = { again: './steps/again.py', once: './steps/once.py' } as const

/** How those who do the work behave, by share of what they do. */
export interface StepRates {
  /** What they make: refused by a gate, nothing that fits, an error of their own. */
  readonly bad: number
  readonly odd: number
  readonly fails: number
  /** They end without a word: before they begin, and each ten seconds of their work. */
  readonly dies_early: number
  readonly dies: number
  /** They say for minutes nothing, and then how it ended. */
  readonly late: number
  /** The same work is handed over to two; how it ended is told twice. */
  readonly doubled: number
  /** They tell how an earlier attempt ended instead of their own. */
  readonly confused: number
}

interface Parts {
  readonly sim: Sim
  readonly rates: StepRates
  readonly objects: MemoryObjects
  /** Calls report-step. */
  report(said: StepReport, who: string): Promise<{ readonly go_on: boolean }>
}

/**
 * Steps whose work is time that passes. Whoever does it tells report-step as the processes of a place do
 * (functions/steps/follow-step.ts), and dies, doubles, stalls and comes late as the order's key says. It watches what
 * invariant 42 asks of the world itself: no two work on one attempt.
 */
export function createSimulatedSteps(parts: Parts): Steps {
  const { sim, rates } = parts
  const begun = new Set<string>()
  const outcomes = new Map<string, string>()
  return {
    describe: async (names) => Object.fromEntries(names.map((name) => [name, described(name)])),
    holdsSecret: async () => false,
    // No document of the simulation runs a container.
    task: async () => ({}),
    collect: async () => undefined,
    async start(_code, start) {
      const key = `${start.place.run_id} ${start.place.index} ${start.place.item} ${start.place.holder}`
      const isDoubled = isWild(sim) && hashed(sim.seed, `doubled ${key}`) < rates.doubled
      if (isDoubled) sim.trace(`the work of ${whoOf(start)} is handed over twice`)
      for (const twin of isDoubled ? ['first', 'second'] : ['first']) {
        void sim.scheduler.turn().then(() => work(parts, start, twin, { begun, outcomes }))
      }
    },
  }
}

function described(name: string): DescribedStep | { readonly problem: string } {
  if (readCallName(name) !== undefined) return { kind: 'native', hash: sha256(name), effect: 'again' }
  const effect = name === STEPS.once ? 'once' : 'again'
  if (name !== STEPS.once && name !== STEPS.again) return { problem: 'there is none' }
  return { kind: 'program', hash: sha256(name), effect, outputs: { text: { type: 'string', required: true } } }
}

/** People and faults end with the calm; so do those who die. */
function isWild(sim: Sim): boolean {
  return sim.scheduler.now() < sim.calm_at
}

function whoOf({ place: { run_id, block, item, attempt } }: StepStart): string {
  return [run_id.slice(-6), block, item, `#${attempt}`].filter((part) => part !== undefined).join(' ')
}

const EACH_MS = 10_000
const LONGEST_MS = 120_000
/** Longer than a claim lasts without a word, and than a machine waits for one. */
const LATE_MS = 200_000
const MOST_TOLD = 3

/** One of those who were handed an attempt. */
interface Worker {
  readonly parts: Parts
  readonly start: StepStart
  readonly order: StepOrder
  dice(what: string): number
  /** Whether it ends here without a word. */
  dies(what: string, rate: number): boolean
  say(said: StepReport['say'], more?: Pick<StepReport, 'progress' | 'outcome'>): Promise<boolean>
}

/** What was done in this place so far: keys whose work began, and the last outcome of each block or item. */
interface Done {
  readonly begun: Set<string>
  readonly outcomes: Map<string, string>
}

async function work(parts: Parts, start: StepStart, twin: string, { begun, outcomes }: Done): Promise<void> {
  const { sim, rates } = parts
  const worker = await openWorker(parts, start, twin)
  const { order, dice, dies, say } = worker
  if (dies('early', rates.dies_early)) return
  await sim.scheduler.delay(dice('wait') ** 6 * EACH_MS)
  if (!(await say('begin').catch(() => false))) return
  if (begun.has(order.key)) sim.violate(42, `two work on ${order.key}`)
  begun.add(order.key)
  const ms = dice('long') ** 8 * LONGEST_MS
  if ((await goOn(worker, Math.min(ms, order.timeout_ms))) === 'left' || dies('end', rates.dies)) return
  if (isWild(sim) && dice('late') < rates.late) {
    sim.trace(`whoever works on ${whoOf(start)} is late`)
    await sim.scheduler.delay(LATE_MS)
  }
  await tellEnd(worker, outcomeOf(parts, order, start, ms > order.timeout_ms, dice('kind')), outcomes)
}

async function openWorker(parts: Parts, start: StepStart, twin: string): Promise<Worker> {
  const { sim, objects } = parts
  const body = await objects.get(start.place.tenant, start.order_ref)
  const order = StepOrderSchema.parse(JSON.parse(Buffer.from(body).toString('utf8')))
  const dice = (what: string) => hashed(sim.seed, `step ${what} ${twin} ${order.key}`)
  return {
    parts,
    start,
    order,
    dice,
    dies(what, rate) {
      const isEnd = isWild(sim) && dice(what) < rate
      if (isEnd) sim.trace(`whoever works on ${whoOf(start)} dies (${what})`)
      return isEnd
    },
    async say(said, more = {}) {
      const report = { place: start.place, token: start.token, say: said, ...more }
      return (await parts.report(report, `${said} ${twin} ${whoOf(start)}`)).go_on
    },
  }
}

/** Works so long, and tells of it. What does not heed that the attempt is no longer its own works to its end, and is late. */
async function goOn({ parts: { sim, rates }, dice, dies, say }: Worker, ms: number): Promise<'done' | 'left'> {
  const heeds = dice('heeds') < 0.7
  for (let at = 0; at < ms; at += EACH_MS) {
    await sim.scheduler.delay(Math.min(EACH_MS, ms - at))
    if (dies(`at ${at}`, rates.dies)) return 'left'
    const progress = { fraction: Math.min(1, at / ms), note: `${at} ms` }
    const told = dice(`tells ${at}`) < 0.5 ? { progress } : {}
    const goesOn = await say(dice(`looks ${at}`) < 0.3 ? 'look' : 'go_on', told).catch(() => true)
    if (!goesOn && heeds) return 'left'
  }
  return 'done'
}

/** Until it is heard; some tell it twice. */
async function tellEnd(
  { parts, start, dice, say }: Worker,
  outcome: StepOutcome,
  outcomes: Map<string, string>,
): Promise<void> {
  const { run_id, tenant, index, item, e } = start.place
  const own = (await parts.objects.put(tenant, Buffer.from(JSON.stringify(outcome)))).ref
  const lane = [run_id, index, item, e].join()
  const earlier = outcomes.get(lane)
  outcomes.set(lane, own)
  const isConfused = isWild(parts.sim) && earlier !== undefined && dice('confused') < parts.rates.confused
  if (isConfused) parts.sim.trace(`whoever works on ${whoOf(start)} tells how another attempt ended`)
  const ref = isConfused ? earlier : own
  const times = dice('again') < parts.rates.doubled ? 2 : 1
  let heard = 0
  for (let tries = 0; tries < MOST_TOLD && heard < times; tries += 1) {
    const isHeard = await say('end', { outcome: ref }).then(
      () => true,
      () => false,
    )
    heard += Number(isHeard)
  }
}

function outcomeOf(
  { rates }: Parts,
  order: StepOrder,
  { order_ref }: StepStart,
  isCut: boolean,
  dice: number,
): StepOutcome {
  const plain = { v: 1 as const, key: order.key, order_ref, artifacts: [], latency_ms: 1, stored_bytes: 0, usd: 0.001 }
  const failed = (code: string, retry: boolean, more: object = {}) => ({
    ...plain,
    failure: { code, reason: `it ended with ${code}`, retry, ...more },
  })
  if (isCut) return failed('block_timeout', true)
  const third = Math.floor(dice * 1e6) % 3
  if (dice < rates.bad) return { ...plain, outputs: { text: 'bad' } }
  if (dice < rates.bad + rates.odd) {
    if (third === 0) return failed('step_crashed', true)
    return { ...plain, outputs: third === 1 ? {} : { text: 'good answer', more: 1 } }
  }
  if (dice < rates.bad + rates.odd + rates.fails) {
    return failed('step_failed', third > 0, third > 1 ? { retry_after_ms: 2_000 } : {})
  }
  return { ...plain, outputs: { text: `good answer of attempt ${order.attempt}` } }
}
