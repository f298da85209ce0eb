import { otherPersonName, type Principal, principalName } from '../../shared/auth/principal.ts'
import { Fault } from '../../shared/errors.ts'
import { type RunMark, runErasedFault, type SaidWhy } from '../../shared/runs/erasure.ts'
import type { Head, OutboxEntry } from '../../shared/runs/head.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { allEvents } from '../record/run-log.ts'

/** The runs its blocks opened, and theirs, the nearest first; those that are gone by age are left out. */
export async function runsBelow(world: Pick<World, 'runs' | 'clock'>, run: RunKey): Promise<readonly RunKey[]> {
  const found: RunKey[] = []
  for (let next = [run]; next.length > 0; ) {
    const [first = run, ...rest] = next
    const own = await childrenOf(world, first)
    found.push(...own)
    next = [...rest, ...own]
  }
  return found
}

async function childrenOf(world: Pick<World, 'runs' | 'clock'>, run: RunKey): Promise<readonly RunKey[]> {
  const ids = new Set(
    (await allEvents(world, run)).flatMap(({ data }) =>
      'child' in data && typeof data.child === 'string' ? [data.child] : [],
    ),
  )
  const own: RunKey[] = []
  for (const run_id of ids) {
    const key = { tenant: run.tenant, run_id }
    // A retry may have taken over what a child of the run before it did.
    if ((await world.runs.meta(key))?.parent?.run_id === run.run_id) own.push(key)
  }
  return own
}

export function saidBy(principal: Principal, now: number, reason: string): SaidWhy {
  const person = otherPersonName(principal)
  const at = new Date(now).toISOString()
  return { by: principalName(principal), ...(person === undefined ? {} : { person }), at, reason }
}

export function heldFault({ run_id }: RunKey, { hold }: RunMark, asked: string): Fault {
  const who = hold === undefined ? '' : ` by ${hold.by} since ${hold.at}: ${hold.reason}`
  const of = run_id === asked ? 'it is held' : `run "${run_id}" below it is held`
  const message = `Cannot erase run "${asked}": ${of}${who}. Nobody erases what is held: \`sluice run hold ${run_id} --lift\` comes first.`
  return new Fault('Conflict', 'run_held', message, { facts: { run_id, by: hold?.by, since: hold?.at } })
}

/** The mark of a run that is there, or was: Fault NotFound unknown_run. */
export async function requireMarked(world: Pick<World, 'runs'>, run: RunKey): Promise<RunMark | undefined> {
  const mark = await world.runs.mark(run)
  if (mark !== undefined || (await world.runs.head(run, [])) !== undefined) return mark
  const message = `Cannot find run "${run.run_id}": there is no such run. \`sluice run list\` shows the runs there are.`
  throw new Fault('NotFound', 'unknown_run', message)
}

export function tooLate(run: RunKey, mark: RunMark | undefined): Fault {
  return mark?.erasure === undefined
    ? new Fault('Unavailable', 'store_busy', `Cannot hold run "${run.run_id}": somebody else changed it. Try again.`)
    : runErasedFault(run, mark.erasure)
}

/** What people and programs have not been told yet is not told any more; the rest others wait for. */
const DROPPED: ReadonlySet<OutboxEntry['kind']> = new Set(['endpoint', 'webhook', 'notify'])

/** What a run still owes to those who wait for it. */
export function owedOf(head: Pick<Head, 'outbox'> | undefined): readonly OutboxEntry[] {
  return head?.outbox.filter(({ kind }) => !DROPPED.has(kind)) ?? []
}
