import { principalName } from '../../shared/auth/principal.ts'
import { BULK_ACTION_NAMES, type Bulk, type BulkAction, type BulkRun } from '../../shared/runs/bulk.ts'
import { runIdOfIdempotencyKey } from '../../shared/runs/ids.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { chance, upTo } from '../integration/random-runs.ts'
import { callRoute } from './call-route.ts'
import { randomFrom } from './rng.ts'
import type { System } from './system.ts'

/** Runs of one document, to some of which one thing is done at once: some are there when it is planned, some come later. */
const BULKED = {
  name: 'bulked',
  blocks: [
    {
      id: 'b0',
      mode: 'deterministic',
      inputs: { note: { type: 'string', required: false, default: 'x' } },
      outputs: { note: 'string' },
      deterministic: { handler: 'pass' },
    },
    { id: 'b1', mode: 'wait', wait: { for: 60 } },
  ],
}

const TENANT = 'main'
const EARLY = 4
const LATE = 2
const PLAN_MS = 40_000
const LATE_MS = 50_000
const START_MS = 70_000
/** Of a retry the runs have to be over. */
const OVER_MS = 150_000
const AGAIN_MS = 30_000
const MOST_ASKED = 20

/** Whether something is done in bulk in this seed. */
export function hasBulk(seed: number): boolean {
  return chance(randomFrom(seed * 137), 0.25)
}

interface BulkWork {
  /** What was started is done, or nobody could be told to start it. */
  areOver(): Promise<boolean>
  /** 53: exactly the runs that were shown were acted on, each once, and what became of each is written. */
  check(): Promise<void>
}

/** Plans and starts one, with an action drawn by the seed. */
export function startBulk(system: System, seed: number): BulkWork {
  const { sim } = system
  const random = randomFrom(seed * 139)
  // An erasure has a quarter of an hour of its own.
  const actions = BULK_ACTION_NAMES.filter((action) => action !== 'erase')
  const action = actions[upTo(random, actions.length - 1)] ?? 'label'
  const later = action === 'retry' ? OVER_MS : 0
  for (let n = 0; n < EARLY + LATE; n += 1) {
    const call = { tenant: TENANT, params: {}, body: { dag: BULKED }, key: `bulked-${n}` }
    const at = n < EARLY ? 1_000 + upTo(random, 10_000) : LATE_MS + later + upTo(random, 10_000)
    sim.scheduler.after(at, () => void callRoute(system, 'start-run', call))
  }
  let isOver = false
  let shown: Bulk | undefined
  sim.scheduler.after(PLAN_MS + later, () => {
    void carryOut(system, action, START_MS - PLAN_MS)
      .then((bulk) => {
        shown = bulk
      })
      .finally(() => {
        isOver = true
      })
  })
  return {
    async areOver() {
      if (!isOver || shown === undefined) return isOver
      return (await system.raw.bulk(shown))?.state === 'done'
    },
    check: async () => {
      const bulk = shown === undefined ? undefined : await system.raw.bulk(shown)
      if (bulk?.state === 'done') await checkBulk(system, bulk)
    },
  }
}

/** Who is told nothing asks again. Undefined: nobody got through. */
async function carryOut(system: System, action: BulkAction, wait_ms: number): Promise<Bulk | undefined> {
  const labels = action === 'label' ? { labels: { set: { bulk: 'yes' } } } : {}
  const body = { action, q: `dag:${BULKED.name}`, ...labels }
  const plan = await untilAnswered(system, 'plan-bulk', {}, body, 201)
  const bulk_id = (plan?.bulk as { readonly bulk_id?: string } | undefined)?.bulk_id
  if (bulk_id === undefined) return undefined
  await system.sim.scheduler.delay(wait_ms)
  const started = await untilAnswered(system, 'change-bulk', { bulk_id }, { do: 'start' }, 202)
  return started === undefined ? undefined : system.raw.bulk({ tenant: TENANT, bulk_id })
}

async function untilAnswered(
  system: System,
  name: string,
  params: Readonly<Record<string, string>>,
  body: object,
  status: number,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  for (let left = MOST_ASKED; left > 0; left -= 1) {
    const reply = await callRoute(system, name, { tenant: TENANT, params, body })
    if (reply?.status === status) return reply.json
    await system.sim.scheduler.delay(AGAIN_MS)
  }
  return undefined
}

async function checkBulk(system: System, bulk: Bulk): Promise<void> {
  const wrong = (words: string) => system.sim.violate(53, `${bulk.action} in bulk: ${words}`)
  const list = await system.raw.bulkRuns(bulk, 0, bulk.count + 1)
  if (list.length !== bulk.count) wrong(`${list.length} runs are listed, ${bulk.count} were shown`)
  const refused = list.filter(({ outcome }) => outcome?.refused !== undefined).length
  if (bulk.done + bulk.refused !== bulk.count || bulk.refused !== refused) wrong('its counts are not those of its runs')
  const of = new Map(list.map((one) => [one.run_id, one]))
  for (const key of system.runs.values()) {
    if (key.tenant !== TENANT) continue
    const times = await timesDone(system, bulk, key)
    checkRun(wrong, key.run_id, times, of.get(key.run_id))
  }
}

function checkRun(wrong: (words: string) => void, run_id: string, times: number, one: BulkRun | undefined): void {
  if (one === undefined) {
    if (times > 0) wrong(`it was done to ${run_id}, which was not shown`)
    return
  }
  const { outcome } = one
  if (outcome === undefined) wrong(`${run_id} has no outcome`)
  else if (outcome.refused === undefined && times !== 1) wrong(`it was done to ${run_id} ${times} times`)
}

/** As what it leaves says. */
async function timesDone({ raw, runs }: System, bulk: Bulk, run: RunKey): Promise<number> {
  switch (bulk.action) {
    case 'label': {
      const mark = sha256(bulk.bulk_id).slice(0, 12)
      return (await raw.notes(run)).filter(({ id }) => id.endsWith(mark)).length
    }
    case 'stop':
      return Number((await raw.head(run, []))?.ended?.reason.includes(bulk.bulk_id) === true)
    default: {
      // People retry runs of other documents by themselves.
      const route = `POST /api/dag/runs/${run.run_id}/retry`
      const own = runIdOfIdempotencyKey(run.tenant, principalName(bulk.by), route, bulk.bulk_id)
      const metas = await Promise.all([...runs.values()].map((key) => raw.meta(key)))
      return metas.filter(
        (meta) => meta?.retry_of?.run_id === run.run_id && (meta.dag_name === BULKED.name || meta.run_id === own),
      ).length
    }
  }
}
