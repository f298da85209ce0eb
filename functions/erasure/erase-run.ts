import { ERASURE_ROUTES, showMark } from '../../shared/api/erasure-routes.ts'
import { Fault } from '../../shared/errors.ts'
import type { Head, OutboxEntry } from '../../shared/runs/head.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { changeHandler } from '../http-handler.ts'
import { heldFault, requireMarked, runsBelow, saidBy } from './run-family.ts'

/** Should whoever is asked for the work die, the sweep asks again so soon. */
const AGAIN_MS = 60_000

/** Writes down that a run is to be erased; keep-or-erase does it. Again it answers how far that is. */
export const handler = changeHandler({
  name: 'erase-run',
  schema: ERASURE_ROUTES['erase-run'],
  run: async ({ params, principal, body }, world) => {
    const run = { tenant: principal.tenant, run_id: params.run_id }
    const there = await requireMarked(world, run)
    if (there?.erasure === undefined) {
      if (there?.hold !== undefined) throw heldFault(run, there, run.run_id)
      const children = await requireErasable(world, run)
      const now = world.clock.now()
      const erasure = { version: 1, step: 'asked' as const, ...saidBy(principal, now, body.reason), children }
      const began = await world.runs.beginErasure(run, erasure, new Date(now + AGAIN_MS).toISOString())
      if (began === 'held') throw heldFault(run, (await world.runs.mark(run)) ?? {}, run.run_id)
    }
    await world.outbox.keepOrErase(run)
    return { json: showMark(run.run_id, await world.runs.mark(run)) }
  },
})

/** The ids of the runs below it. They and it are over and owe nothing, nobody holds them, and no run above it is there. */
async function requireErasable(world: Pick<World, 'runs' | 'clock'>, run: RunKey): Promise<readonly string[]> {
  const meta = await world.runs.meta(run)
  const parent = meta?.parent?.run_id
  if (parent !== undefined && (await world.runs.head({ ...run, run_id: parent }, [])) !== undefined) {
    const message = `Cannot erase run "${run.run_id}" alone: a block of run "${parent}" opened it, whose record has what it gave. Erase that one, and this goes with it.`
    throw new Fault('Conflict', 'run_of_parent', message, { facts: { parent } })
  }
  const below = await runsBelow(world, run)
  for (const one of [run, ...below]) {
    requireOver(one, await world.runs.head(one, []))
    const mark = await world.runs.mark(one)
    if (mark?.hold !== undefined) throw heldFault(one, mark, run.run_id)
  }
  return below.map(({ run_id }) => run_id)
}

/** What people and programs have not been told yet is not told any more; the rest others wait for. */
const DROPPED: ReadonlySet<OutboxEntry['kind']> = new Set(['endpoint', 'webhook', 'notify'])

function requireOver({ run_id }: RunKey, head: Head | undefined): void {
  if (head === undefined) return
  if (head.state === 'running') {
    const message = `Cannot erase run "${run_id}": it still goes on. Wait for its end, or stop it first with \`sluice run stop ${run_id}\`.`
    throw new Fault('Conflict', 'run_not_ended', message)
  }
  const owed = head.outbox.filter(({ kind }) => !DROPPED.has(kind))
  if (owed.length === 0) return
  const kinds = [...new Set(owed.map(({ kind }) => kind))].join(', ')
  const message = `Cannot erase run "${run_id}" yet: its end is still on the way to others (${kinds}). Try again in a minute.`
  throw new Fault('Conflict', 'run_at_work', message, { facts: { owed: owed.map(({ kind }) => kind) } })
}
