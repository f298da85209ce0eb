import { hashesIn, type LookForOthers } from '../../shared/runs/erasure.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { reachedObjects, textsOfRun } from './run-texts.ts'

type Looking = Pick<World, 'runs' | 'objects' | 'graph' | 'triggers' | 'clock'>

/** Runs a page: between two pages how far it is is written down. */
const PAGE = 25
/** Firings that are owed, as many as a tenant can have within minutes. */
const MOST_OWED = 10_000

/** One page of the look, and where it goes on; `named`: of the bodies asked about, those that somebody else names. */
export interface Looked {
  readonly named: readonly string[]
  readonly look: LookForOthers
}

/**
 * Who else names these bodies: other runs by anything they have recorded, and by what lies in the bodies they name; entities of
 * the graph; firings that are owed. Runs first, newest first; then the graph; then once more those that were at work since the
 * look began.
 */
export async function lookForOthers(
  world: Looking,
  run: RunKey,
  bodies: ReadonlySet<string>,
  look: LookForOthers,
): Promise<Looked> {
  if (look.of === 'graph') return lookAtGraph(world, run.tenant, bodies, look)
  const { since, of, after } = look
  const page = await world.runs.list(run.tenant, { limit: PAGE, ...(after === undefined ? {} : { after }) })
  const others = page.runs.filter((one) => one.run_id !== run.run_id && (of === 'runs' || wasAtWork(one, since)))
  const all = await namedByRuns(world, others)
  // One that cannot be read may name any of them.
  const isDamaged = page.damaged !== undefined && page.damaged.length > 0
  const named = [...bodies].filter((hash) => isDamaged || all.has(hash))
  if (page.next !== undefined) return { named, look: { ...look, after: page.next } }
  if (of === 'runs') return { named, look: { since, of: 'graph' } }
  return { named: [...named, ...(await namedByFirings(world, run, bodies))], look: { since, of: 'done' } }
}

type Listed = Awaited<ReturnType<World['runs']['list']>>['runs'][number]

function wasAtWork({ created_at, head }: Listed, since: string): boolean {
  return created_at >= since || head.state === 'running' || (head.ended?.at ?? since) >= since
}

/** Every hash they have anywhere: some objects are read by their hash alone. A body that several name is read once. */
async function namedByRuns(world: Looking, runs: readonly RunKey[]): Promise<ReadonlySet<string>> {
  const known = new Set<string>()
  const named = new Set<string>()
  const visit = (text: string) => {
    for (const hash of hashesIn(text)) named.add(hash)
  }
  for (const { tenant, run_id } of runs) {
    const texts = await textsOfRun(world, { tenant, run_id })
    texts.forEach(visit)
    await reachedObjects(world, tenant, texts, { known, visit })
  }
  return named
}

async function lookAtGraph(
  { graph }: Looking,
  tenant: string,
  bodies: ReadonlySet<string>,
  { since, after }: LookForOthers,
): Promise<Looked> {
  const { entity_ids, next } = await graph.list(tenant, after)
  const entities = entity_ids.length === 0 ? [] : await graph.entities(tenant, entity_ids)
  const named = hashesIn(JSON.stringify(entities)).filter((hash) => bodies.has(hash))
  return { named, look: next === undefined ? { since, of: 'again' } : { since, of: 'graph', after: next } }
}

async function namedByFirings({ triggers }: Looking, { tenant }: RunKey, bodies: ReadonlySet<string>) {
  const owed = await triggers.owed(tenant, MOST_OWED)
  return hashesIn(JSON.stringify(owed)).filter((hash) => bodies.has(hash))
}
