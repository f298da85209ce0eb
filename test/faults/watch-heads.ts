import type { Head } from '../../shared/runs/head.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { personNamed } from './slack/workspace.ts'
import type { System } from './system.ts'
import { watchStops } from './watch-stops.ts'

/** What must hold of every HEAD after every step that wrote it, and of what it was before. */
export function watchHeads(system: System, caps: Caps): () => Promise<void> {
  const places = new Map<string, number>()
  const watchStop = watchStops(system)
  return async () => {
    for (const key of changed(system, 'head')) {
      const head = await watchHead(system, key)
      if (head !== undefined) await watchStop(key, head)
    }
    for (const key of changed(system, 'projections')) await watchProjections(system, key, places)
    if (system.written('leases').length > 0) await watchLeases(system, caps)
  }
}

function changed({ runs, written }: System, part: 'head' | 'projections'): readonly RunKey[] {
  return written(part).flatMap((id) => runs.get(id) ?? [])
}

async function watchHead({ raw, sim, heads, lookers }: System, key: RunKey): Promise<Head | undefined> {
  const { run_id } = key
  const was = heads.get(run_id)
  const head = await raw.head(key)
  if (head === undefined) {
    heads.delete(run_id)
    const isErased = was !== undefined && (await raw.mark(key))?.erasure !== undefined
    if (was !== undefined && !isErased) sim.violate(6, `${run_id} has no HEAD any more`)
    return undefined
  }
  heads.set(run_id, head)
  for (const look of lookers) look({ run_id, was, head })
  for (const [invariant, words] of problemsOf(was, head)) sim.violate(invariant, `${run_id}: ${words}`)
  await watchRest({ raw, sim }, key, was, head)
  return head
}

/** 19: a run that rests does nothing, and has a slot again before it goes on. */
async function watchRest(
  { raw, sim }: Pick<System, 'raw' | 'sim'>,
  { tenant, run_id }: RunKey,
  was: Head | undefined,
  head: Head,
): Promise<void> {
  if (head.state !== 'running') return
  if (head.resting !== undefined && head.running.length > 0)
    sim.violate(19, `${run_id} rests, and ${head.running.join(', ')} works`)
  if (was?.resting === undefined || head.resting !== undefined) return
  const held = await raw.leases({ tenant, name: 'runs' })
  if (!Object.hasOwn(held, run_id)) sim.violate(19, `${run_id} goes on after its rest without a slot`)
}

const MOST_BYTES = 32_768

type Problem = readonly [invariant: number, words: string]

function problemsOf(was: Head | undefined, head: Head): readonly Problem[] {
  const bytes = JSON.stringify(head).length
  const large: Problem[] = bytes > MOST_BYTES ? [[20, `HEAD has ${bytes} bytes`]] : []
  const own = [...large, ...voteProblems(head)]
  return was === undefined ? own : [...own, ...moved(was, head), ...budgetProblems(was, head)]
}

/** 13: each vote is another person's, by whichever name they came. */
function voteProblems({ approvals }: Head): readonly Problem[] {
  return Object.entries(approvals).flatMap(([id, { votes = [] }]): Problem[] => {
    const people = new Set(votes.map(({ by }) => personNamed(by)))
    return people.size === votes.length
      ? []
      : [[13, `${id}: ${votes.map(({ by }) => by).join(', ')} are not so many people`]]
  })
}

function moved(was: Head, head: Head): readonly Problem[] {
  const wrong: Problem[] = []
  if (head.seq < was.seq) wrong.push([1, `seq fell from ${was.seq} to ${head.seq}`])
  if (was.state !== 'running' && head.state !== was.state) wrong.push([6, `${was.state} became ${head.state}`])
  if (was.state !== 'running' && head.seq > was.seq) wrong.push([4, `event ${head.seq} after the end at ${was.seq}`])
  for (const [lane, ordinal] of Object.entries(was.lanes)) {
    const now = head.lanes[lane]
    // Lanes of items leave with their block.
    if (now === undefined ? !lane.includes('.') : now < ordinal)
      wrong.push([8, `lane ${lane} went from ${ordinal} to ${now}`])
  }
  return wrong
}

function budgetProblems({ budget: was }: Head, { budget }: Head): readonly Problem[] {
  const wrong: Problem[] = []
  if (budget.spent_tokens < was.spent_tokens || budget.spent_usd_micros < was.spent_usd_micros) {
    wrong.push([18, `spent fell from ${JSON.stringify(was)} to ${JSON.stringify(budget)}`])
  }
  const reserves = budget.spent_tokens === was.spent_tokens && budget.committed_tokens > was.committed_tokens
  if (reserves && budget.committed_tokens > (budget.cap_tokens ?? Number.POSITIVE_INFINITY)) {
    wrong.push([17, `reserved past its cap: ${JSON.stringify(budget)}`])
  }
  return wrong
}

/** 22: a projection is only ever replaced by a newer one. */
async function watchProjections({ raw, sim }: System, key: RunKey, places: Map<string, number>): Promise<void> {
  for (const { block, ordinal } of await raw.projections(key)) {
    const name = `${key.run_id} ${block}`
    const was = places.get(name) ?? 0
    if (ordinal < was) sim.violate(22, `${key.run_id}: the projection of block ${block} went from ${was} to ${ordinal}`)
    places.set(name, ordinal)
  }
}

/** Pools of leases, `runs` and `provider/<name>`, and how many of each there may be. */
export type Caps = Readonly<Record<string, number>>

/** 19: never more of a kind than there may be. */
async function watchLeases({ raw, sim, runs }: System, caps: Caps): Promise<void> {
  const tenants = new Set([...runs.values()].map(({ tenant }) => tenant))
  for (const tenant of tenants) {
    for (const [name, cap] of Object.entries(caps)) {
      const held = Object.keys(await raw.leases({ tenant, name })).length
      if (held > cap) sim.violate(19, `${held} leases of ${tenant} in ${name}, at most ${cap}`)
    }
  }
}
