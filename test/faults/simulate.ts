import { sha256 } from '../../shared/text/hash.ts'
import { isAtRest } from './at-rest.ts'
import { checkSystem, type Logs, readLogs } from './check-system.ts'
import { deliverAgain } from './deliver-again.ts'
import { startBulk } from './do-in-bulk.ts'
import { startErasures } from './erase-runs.ts'
import { createFaultPlan, type InjectedFault } from './fault-plan.ts'
import { startFirings } from './fire-triggers.ts'
import type { Mutant } from './mutant.ts'
import { createPeople } from './people.ts'
import { randomFrom } from './rng.ts'
import { NOTHING, type Profile, planScenario, type Scenario, type Without } from './scenario.ts'
import { createScheduler } from './scheduler.ts'
import { createSim, type Sim } from './sim.ts'
import { openSystem, type StoreKind, type System } from './system.ts'
import { startTurns } from './take-turns.ts'
import { type Caps, watchHeads } from './watch-heads.ts'
import type { Wire } from './wire/open-wire.ts'

export interface Order {
  readonly seed: number
  readonly store: StoreKind
  readonly profile?: Profile
  readonly mutant?: Mutant
  readonly without?: Without
  readonly verbose?: boolean
  /** Where the table of the dynamodb store lies, if not in memory. */
  readonly wire?: Wire
}

/** What became of one seed. */
export interface Outcome {
  readonly scenario: Scenario
  readonly violations: readonly string[]
  /** Of all events of all runs, byte for byte. */
  readonly digest: string
  readonly steps: number
  readonly events: number
  readonly logs: Logs
  readonly lines: readonly string[]
  readonly faults: readonly InjectedFault[]
  readonly reached: ReadonlyMap<string, number>
  readonly struck: ReadonlyMap<string, number>
}

const START = Date.parse('2026-01-01T00:00:00Z')
const SWEEP_MS = 60_000
const MOST_STEPS = 400_000
/** Every run has its deadline long before. */
const MOST_VIRTUAL_MS = 12 * 3_600_000

/** Runs one seed from its first start to rest; the same order gives the same outcome, byte for byte. */
export async function simulate(order: Order): Promise<Outcome> {
  const { seed, store, profile, mutant, without = NOTHING, verbose = false, wire } = order
  const scenario = planScenario(seed, START, profile, without)
  const scheduler = createScheduler(randomFrom(seed ^ 0x5eed), START)
  const { rates, outages, most_faults: most } = scenario
  const faults = createFaultPlan({ seed, rates, outages, most, skip: without.faults, now: scheduler.now })
  const random = randomFrom(seed ^ 0xbeef)
  const sim = createSim({ seed, scheduler, faults, random, verbose, calm_at: START + scenario.calm_at })
  const system = openSystem({ sim, scenario, store, mutant, wire })
  try {
    return outcomeOf(sim, scenario, await untilRest(system, scenario))
  } catch (error) {
    // What nobody expected is told with its seed, and the campaign goes on.
    sim.violate(32, `the simulation threw ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
    return outcomeOf(sim, scenario, new Map())
  } finally {
    system.close()
  }
}

async function untilRest(system: System, scenario: Scenario): Promise<Logs> {
  const { sim } = system
  const { scheduler } = sim
  const people = createPeople(system, scenario)
  const watch = watchHeads(system, capsOf(scenario))
  people.schedule()
  const clock = startSweeps(system)
  const firings = scenario.triggers ? startFirings(system, sim.seed) : undefined
  const bulk = scenario.bulk ? startBulk(system, sim.seed) : undefined
  const turns = scenario.turns ? startTurns(system, sim.seed) : undefined
  const erasures = scenario.erasures ? startErasures(system, sim.seed) : undefined
  let calm = false
  scheduler.after(scenario.calm_at, () => {
    calm = true
    sim.faults.end()
    sim.trace('calm')
  })
  const ended = await scheduler.run(async () => {
    await watch()
    await turns?.watch()
    if (sim.violations.length > 0) return true
    if (!clock.ticked() || !calm) return false
    const others = [await firings?.areOver(), await turns?.areOver(), await erasures?.areOver(), await bulk?.areOver()]
    const isOver = !others.includes(false)
    const rests = (await isAtRest(system, people, scenario.skew_ms)) && isOver
    return rests || scheduler.now() > START + MOST_VIRTUAL_MS
  }, MOST_STEPS)
  clock.stop()
  firings?.stop()
  if (ended !== 'done') sim.violate(32, `the simulation is ${ended}`)
  if (scheduler.now() > START + MOST_VIRTUAL_MS) {
    const owed = (await system.triggers.owed('main', 10)).map(({ id, reason }) => `${id} ${reason?.message ?? ''}`)
    sim.violate(32, `not at rest: ${[underWayIn(system), ...owed].join(', ')}`)
  }
  if (sim.violations.length > 0) return readLogs(system)
  const checking = checkSystem(system, scenario, people)
    .then((logs) => firings?.check().then(() => logs) ?? logs)
    .then((logs) => bulk?.check().then(() => logs) ?? logs)
    .then((logs) => deliverAgain(system, logs))
    .then((logs) => erasures?.check().then(() => logs) ?? logs)
  let over = false
  const end = () => {
    over = true
  }
  void checking.then(end, end)
  await scheduler.run(() => over, MOST_STEPS)
  return checking
}

function capsOf({ safety, providers }: Scenario): Caps {
  const limits = Object.entries(providers) as [string, { readonly max_concurrency: number }][]
  const places = limits.map(([name, { max_concurrency }]) => [`provider/${name}`, max_concurrency] as const)
  return { runs: Number(safety.max_runs ?? 20), ...Object.fromEntries(places) }
}

function underWayIn({ functions }: System): string {
  return [...functions.underWay].map(({ who }) => who).join(', ')
}

/** A sweep each minute, but for those that are missed or come twice. */
function startSweeps({ sim, functions }: System) {
  let ticks = 0
  let seen = 0
  let over = false
  const call = { from: 'event' as const, who: 'sweep' }
  const tick = () => {
    if (over) return
    ticks += 1
    const fault = sim.faults.strike('sweep/event', 'sweep', ['missed', 'doubled'])
    if (fault !== undefined) sim.trace(`fault ${fault}: sweep`)
    const times = fault === 'missed' ? 0 : fault === 'doubled' ? 2 : 1
    for (let i = 0; i < times; i += 1) functions.invoke('sweep', {}, call).catch(() => undefined)
    sim.scheduler.after(SWEEP_MS, tick)
  }
  sim.scheduler.after(SWEEP_MS, tick)
  return {
    /** Whether there was one since this was asked last. */
    ticked() {
      const isNew = ticks > seen
      seen = ticks
      return isNew
    },
    stop() {
      over = true
    },
  }
}

function outcomeOf(sim: Sim, scenario: Scenario, logs: Logs): Outcome {
  const texts = [...logs].map(([id, events]) => `${id}\n${events.map((event) => JSON.stringify(event)).join('\n')}`)
  return {
    scenario,
    violations: sim.violations,
    digest: sha256(texts.join('\n\n')),
    steps: sim.scheduler.steps,
    events: [...logs.values()].reduce((sum, events) => sum + events.length, 0),
    logs,
    lines: sim.lines,
    faults: sim.faults.injected,
    reached: sim.faults.reached,
    struck: sim.faults.struck,
  }
}
