import type { RunKey } from '../../shared/runs/run-store.ts'
import type { Logs } from './check-system.ts'
import type { System } from './system.ts'

/**
 * 31, of a lineage: its failed attempts are numbered without a gap, each is of another run, and a run that was judged to
 * have missed its goal has the number its evaluation says.
 */
export async function checkGoals(system: System, logs: Logs): Promise<void> {
  const lineages = await lineagesOf(system)
  for (const members of lineages.values()) await checkLineage(system, logs, members)
}

interface Member extends RunKey {
  readonly root: string
}

/** The runs that are judged, by their root. */
async function lineagesOf({ raw, runs }: System): Promise<ReadonlyMap<string, readonly Member[]>> {
  const members: Member[] = []
  for (const [run_id, key] of runs) {
    const meta = await raw.meta(key)
    if (meta?.goal !== undefined) members.push({ ...key, root: meta.root ?? run_id })
  }
  return Map.groupBy(members, ({ tenant, root }) => `${tenant}/${root}`)
}

async function checkLineage({ raw, sim }: System, logs: Logs, members: readonly Member[]): Promise<void> {
  const { tenant = '', root = '' } = members[0] ?? {}
  const attempts = await raw.goalAttempts(tenant, root)
  const numbers = new Map(attempts.map(({ run_id, n }) => [run_id, n]))
  if (attempts.some(({ n }, i) => n !== i + 1) || numbers.size !== attempts.length) {
    sim.violate(31, `the attempts of ${root} are ${attempts.map(({ run_id, n }) => `${n} ${run_id}`).join()}`)
  }
  for (const { run_id } of members) {
    const judged = logs.get(run_id)?.find(({ type }) => type === 'goal:evaluated')
    if (judged?.type !== 'goal:evaluated' || judged.data.status !== 'NOT_MET') continue
    const { attempt } = judged.data
    if (numbers.get(run_id) !== attempt)
      sim.violate(31, `${run_id} was judged as attempt ${attempt}, and is kept as ${numbers.get(run_id)}`)
  }
}
