import type { PlayedCall, PlayedCase, PlayedRun } from '../../../shared/cases/played-case.ts'
import type { Dag } from '../../../shared/dag/dag.ts'
import type { RunEvent, StoredValue } from '../../../shared/runs/event.ts'
import { foldRun } from '../../../shared/runs/fold-run.ts'
import { attemptOf, type RunFold } from '../../../shared/runs/run-fold.ts'
import type { RunKey } from '../../../shared/runs/run-store.ts'
import { isRefused } from '../../../shared/runs/turns-and-calls.ts'
import type { Json } from '../../../shared/text/json.ts'
import type { World } from '../../../shared/world.ts'

interface Parts {
  readonly first: RunKey
  /** The run that ended for good: the first one, or one that took its place. */
  readonly last: RunKey
  readonly calls: readonly PlayedCall[]
  readonly problems: readonly string[]
  readonly waited_ms: number
  readonly took_ms: () => number
}

/** Bytes of an artifact that are read as text. */
const MOST_BYTES = 4_194_304

/** What came of a case, out of the record of its runs. */
export async function readPlayed(world: World, parts: Parts): Promise<PlayedCase> {
  const { first, last, calls, problems, waited_ms, took_ms } = parts
  const runs = await readRuns(world, first)
  const own = runs.find(({ run_id }) => run_id === last.run_id)
  const events = own?.events ?? []
  const fold = foldRun(events)
  const spent = runs.map((run) => foldRun(run.events))
  const { state, code, reason, final_status } = fold
  return {
    status: state,
    ...(code === undefined ? {} : { code }),
    ...(reason === undefined ? {} : { reason }),
    ...(final_status === undefined ? {} : { final_status }),
    blocks: statesOf(own?.dag, fold),
    gates: verdictsOf(events),
    outputs: await readOutputs(world, last, fold),
    artifacts: await readArtifacts(world, last),
    asked: runs.flatMap((run) =>
      run.events.flatMap(({ type, block_id }) => (type === 'approval:requested' && block_id ? [block_id] : [])),
    ),
    calls: [...calls, ...runs.flatMap((run) => toolsCalled(run.events))],
    usd: sum(spent.map(({ usd_micros = 0 }) => usd_micros)) / 1_000_000,
    tokens: sum(spent.map(({ tokens }) => tokens)),
    waited_sec: Math.round(waited_ms / 1_000),
    took_ms: Math.round(took_ms()),
    runs,
    problems,
  }
}

function sum(all: readonly number[]): number {
  return all.reduce((total, one) => total + one, 0)
}

/** The run of the case first. */
async function readRuns(world: World, first: RunKey): Promise<readonly PlayedRun[]> {
  const { runs } = await world.runs.list(first.tenant, { limit: 100 })
  const read = await Promise.all(
    runs.map(async (meta): Promise<PlayedRun> => {
      const body = await world.objects.get(first.tenant, meta.dag_ref)
      // The document that start-run wrote: content-addressed and verified.
      const dag = JSON.parse(Buffer.from(body).toString('utf8')) as Dag
      const events = await world.runs.events(meta, 0, 100_000)
      return { run_id: meta.run_id, dag, events, is_child: meta.parent !== undefined }
    }),
  )
  return read.toSorted((a, b) => Number(b.run_id === first.run_id) - Number(a.run_id === first.run_id))
}

function statesOf(dag: Dag | undefined, { blocks }: RunFold): PlayedCase['blocks'] {
  const known = (dag?.blocks ?? []).map(({ id }) => {
    const { state = 'pending', attempt = 0 } = blocks[id] ?? {}
    return [id, { state, attempt }] as const
  })
  return Object.fromEntries(known)
}

function verdictsOf(events: readonly RunEvent[]): PlayedCase['gates'] {
  const verdicts: Record<string, { status: 'passed' | 'failed' | 'error' | 'waived'; reason: string }[]> = {}
  for (const event of events) {
    if (event.type !== 'block:gate') continue
    const { gate, status, reason } = event.data
    const name = `${event.block_id}.${gate}`
    verdicts[name] = [...(verdicts[name] ?? []), { status, reason }]
  }
  return verdicts
}

async function readOutputs(world: World, run: RunKey, { blocks }: RunFold): Promise<Readonly<Record<string, Json>>> {
  const stored = Object.entries(blocks).flatMap(([id, { state, outputs = {} }]) =>
    state === 'completed' ? Object.entries(outputs).map(([port, value]) => [`${id}.${port}`, value] as const) : [],
  )
  const read = stored.map(async ([name, value]) => [name, await readValue(world, run, value)] as const)
  return Object.fromEntries(await Promise.all(read))
}

async function readValue({ objects }: World, { tenant }: RunKey, { ref }: StoredValue): Promise<Json> {
  // Stored values are canonical JSON (functions/record/projections.ts).
  return JSON.parse(Buffer.from(await objects.get(tenant, ref)).toString('utf8')) as Json
}

async function readArtifacts({ runs, objects }: World, run: RunKey): Promise<Readonly<Record<string, string>>> {
  const items = (await runs.artifacts(run)).filter(({ bytes }) => bytes <= MOST_BYTES)
  const read = items.map(async ({ name, ref }) => {
    return [name, Buffer.from(await objects.get(run.tenant, ref)).toString('utf8')] as const
  })
  return Object.fromEntries(await Promise.all(read))
}

/** Tools of agents whose call was made: one that a gate, a bound or a person refused was not. */
function toolsCalled(events: readonly RunEvent[]): readonly PlayedCall[] {
  const refused = new Set(events.filter(isRefusal).map(attemptOf))
  return events.flatMap((event) => {
    const use = event.type === 'block:started' ? event.data.call?.use : undefined
    return use === undefined || refused.has(attemptOf(event)) ? [] : [{ kind: 'tool', name: use } as const]
  })
}

function isRefusal(event: RunEvent): boolean {
  return event.type === 'block:failed' && isRefused({ state: 'failed', error: event.data })
}
