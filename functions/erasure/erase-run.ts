import { ERASURE_ROUTES, showMark } from '../../shared/api/erasure-routes.ts'
import type { Principal } from '../../shared/auth/principal.ts'
import { Fault } from '../../shared/errors.ts'
import type { Head } from '../../shared/runs/head.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { changeHandler } from '../http-handler.ts'
import { heldFault, owedOf, requireMarked, runsBelow, saidBy } from './run-family.ts'

/** Should whoever is asked for the work die, the sweep asks again so soon. */
const AGAIN_MS = 60_000

export const handler = changeHandler({
  name: 'erase-run',
  schema: ERASURE_ROUTES['erase-run'],
  run: async ({ params, principal, body }, world) => {
    const run = { tenant: principal.tenant, run_id: params.run_id }
    await eraseRun(world, run, principal, body)
    return { json: showMark(run.run_id, await world.runs.mark(run)) }
  },
})

/** Writes down that a run is to be erased; keep-or-erase does it. Again it changes nothing: the first who asked stays. */
export async function eraseRun(
  world: Pick<World, 'runs' | 'clock' | 'outbox'>,
  run: RunKey,
  principal: Principal,
  { reason, when_ended }: { readonly reason: string; readonly when_ended?: boolean | undefined },
): Promise<void> {
  const there = await requireMarked(world, run)
  if (there?.erasure === undefined) {
    if (there?.hold !== undefined) throw heldFault(run, there, run.run_id)
    const waits = when_ended === true && (await goesOn(world, run))
    const children = waits ? [] : await requireErasable(world, run)
    const now = world.clock.now()
    const later = waits ? { when_ended: true as const } : {}
    const erasure = { version: 1, step: 'asked' as const, ...saidBy(principal, now, reason), children, ...later }
    const began = await world.runs.beginErasure(run, erasure, new Date(now + AGAIN_MS).toISOString())
    if (began === 'held') throw heldFault(run, (await world.runs.mark(run)) ?? {}, run.run_id)
  }
  await world.outbox.keepOrErase(run)
}

/** A root alone: what a block opened goes with it. */
async function goesOn(world: Pick<World, 'runs'>, run: RunKey): Promise<boolean> {
  if ((await world.runs.meta(run))?.parent !== undefined) return false
  return (await world.runs.head(run, []))?.state === 'running'
}

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

function requireOver({ run_id }: RunKey, head: Head | undefined): void {
  if (head === undefined) return
  if (head.state === 'running') {
    const message = `Cannot erase run "${run_id}": it still goes on. Wait for its end, stop it first with \`sluice run stop ${run_id}\`, or say --when-ended (when_ended: true).`
    throw new Fault('Conflict', 'run_not_ended', message)
  }
  const owed = owedOf(head)
  if (owed.length === 0) return
  const kinds = [...new Set(owed.map(({ kind }) => kind))].join(', ')
  const message = `Cannot erase run "${run_id}" yet: its end is still on the way to others (${kinds}). Try again in a minute.`
  throw new Fault('Conflict', 'run_at_work', message, { facts: { owed: owed.map(({ kind }) => kind) } })
}
