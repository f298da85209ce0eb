import { readStoredRun } from '../../functions/record/stored-run.ts'
import { checkRun } from '../../shared/invariants/check-run.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { foldRun } from '../../shared/runs/fold-run.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { spentByEvents } from '../../shared/runs/usage-cost.ts'
import { callRoute } from './call-route.ts'
import { checkGoals } from './check-goals.ts'
import { checkIterations } from './check-iterations.ts'
import type { People } from './people.ts'
import type { Scenario } from './scenario.ts'
import { simulatedGatePorts } from './simulated-gate-ports.ts'
import { checkSlack, holdsToken } from './slack/check-slack.ts'
import { SPENDING, type System } from './system.ts'
import { checkWaits } from './wake.ts'
import { checkWebhooks } from './webhooks/check-webhooks.ts'

/** Events of every run, in the order the runs were made. */
export type Logs = ReadonlyMap<string, readonly RunEvent[]>

const MOST_EVENTS = 100_000

export async function readLogs({ raw, runs, sim }: System): Promise<Logs> {
  const logs = new Map<string, readonly RunEvent[]>()
  for (const [id, key] of runs) {
    const events = await raw.events(key, 0, MOST_EVENTS).catch((error: unknown) => {
      sim.violate(1, `${id}: ${error}`)
      return []
    })
    logs.set(id, events)
  }
  return logs
}

/** Everything that must hold once a simulated place is at rest. */
export async function checkSystem(system: System, scenario: Scenario, people: People): Promise<Logs> {
  const logs = await readLogs(system)
  for (const [id, events] of logs) {
    const key = system.runs.get(id)
    if (key === undefined || events.length === 0) continue
    await checkStored(system, scenario, key)
    await checkAnswers(system, key, events)
  }
  for (const { run, since, seen } of people.readers) checkReader(system, logs.get(run.run_id) ?? [], since, seen, run)
  await checkList(system, people)
  await checkIterations(system, logs)
  await checkGoals(system, logs)
  await checkSlack(system)
  await checkWebhooks(system, logs)
  if (scenario.spending) await checkSpending(system, logs)
  checkWaits(system, scenario, people.wakes, logs)
  const texts = [...logs.values()].map((events) => JSON.stringify(events))
  if (texts.some((text) => holdsToken(text, system.tokens))) system.sim.violate(28, 'an event holds a task token')
  return logs
}

/**
 * What events say that calls used is in the count of the cap; more is, of calls nobody heard of again. What a run reserved
 * for an attempt that was lost may be of a call that was never made: such runs are left out.
 */
async function checkSpending({ spending, sim }: System, logs: Logs): Promise<void> {
  const times = [...logs.values()].flatMap((events) => events.map(({ at }) => at.slice(0, 7)))
  const counted = [...new Set(times)].map((period) => spending.read({ cap: SPENDING[0].name, period }))
  const committed = (await Promise.all(counted)).reduce((sum, ledger) => sum + ledger.committed.tokens, 0)
  const opened = new Set([...logs.values()].flatMap(([first]) => parentOf(first)))
  const told = [...logs.values()]
    .filter((events) => events.every(({ type }) => type !== 'budget:reserved'))
    .reduce((sum, events) => sum + spentByEvents(ownCalls(events, opened)).tokens, 0)
  if (told > committed) sim.violate('spending', `calls used ${told} tokens, and ${committed} are counted`)
}

/** Without what blocks tell of their child runs: those tell it themselves. */
function ownCalls(events: readonly RunEvent[], opened: ReadonlySet<string>): readonly RunEvent[] {
  return events.filter(({ run_id, block_id }) => !opened.has(`${run_id}/${block_id}`))
}

/** The block that waits for this run, with its run. */
function parentOf(first: RunEvent | undefined): readonly string[] {
  if (first?.type !== 'run:started' || first.data.parent === undefined) return []
  const { run_id, block_id } = first.data.parent
  return [`${run_id}/${block_id}`]
}

/** Every invariant that one stored run can be asked about, and its hash chain, closed to the end. */
async function checkStored(
  { raw: runs, objects, machine, sim }: System,
  scenario: Scenario,
  key: RunKey,
): Promise<void> {
  const meta = await runs.meta(key)
  if (meta === undefined) return sim.violate(1, `${key.run_id} has no META`)
  const world = { runs, objects, machine, isolate: simulatedGatePorts().isolate, clock: sim.scheduler }
  const { stored, seal } = await readStoredRun(world, key, meta)
  if (seal?.matches !== true) sim.violate('chain', `${key.run_id}: its events are not those of its hash chain`)
  if (seal?.seq !== stored.events.length)
    sim.violate('chain', `${key.run_id}: closed to ${seal?.seq} of ${stored.events.length}`)
  for (const { n, problems } of await checkRun({ ...stored, max_attempts: 5 })) {
    for (const problem of problems) if (!isByClock(scenario, n, problem)) sim.violate(n, `${key.run_id}: ${problem}`)
  }
}

/** Whether a decision came in time is a matter of the clocks, which were off. */
function isByClock({ skew_ms }: Scenario, n: number, problem: string): boolean {
  return skew_ms > 0 && n === 13 && problem.includes('expire')
}

/** 23: GET run says what the fold of the log says. */
async function checkAnswers(system: System, key: RunKey, events: readonly RunEvent[]): Promise<void> {
  const { sim } = system
  const reply = await callRoute(system, 'get-run', { tenant: key.tenant, params: { run_id: key.run_id } })
  const fold = foldRun(events)
  const { run, steps } = (reply?.json ?? {}) as {
    readonly run?: { readonly state: string; readonly last_seq: number }
    readonly steps?: unknown
  }
  if (run?.state !== fold.state || run?.last_seq !== events.length) {
    sim.violate(
      23,
      `GET ${key.run_id} says ${JSON.stringify([run?.state, run?.last_seq])}, its log ${fold.state}, ${events.length}`,
    )
  }
  if (JSON.stringify(steps) !== JSON.stringify(fold.steps))
    sim.violate(23, `GET ${key.run_id} has other steps than its log`)
}

/** 3, against the whole log. */
function checkReader(
  system: System,
  events: readonly RunEvent[],
  since: number,
  seen: readonly RunEvent[],
  run: RunKey,
): void {
  const stored = events.slice(since, since + seen.length)
  if (JSON.stringify(stored) !== JSON.stringify(seen))
    system.sim.violate(3, `a reader of ${run.run_id} saw other events than are stored`)
}

/** 26: as many runs as were made. */
async function checkList({ raw, runs, sim }: System, people: People): Promise<void> {
  for (const tenant of ['main', 'other']) {
    const { runs: listed } = await raw.list(tenant, { limit: 500 })
    const roots = listed.filter(({ parent }) => parent === undefined).map(({ run_id }) => run_id)
    const made = [...runs.values()].filter((key) => key.tenant === tenant).map(({ run_id }) => run_id)
    const strangers = listed.filter(({ run_id }) => !made.includes(run_id))
    if (strangers.length > 0) sim.violate(27, `runs nobody made: ${strangers.map(({ run_id }) => run_id).join(', ')}`)
    const lost = [...people.started.values(), ...people.linked].filter(
      (key) => key.tenant === tenant && !roots.includes(key.run_id),
    )
    if (lost.length > 0) sim.violate(26, `answered, but not there: ${lost.map(({ run_id }) => run_id).join(', ')}`)
  }
}
