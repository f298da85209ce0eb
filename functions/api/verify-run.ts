import { showMark } from '../../shared/api/erasure-routes.ts'
import { VERIFY_RUN } from '../../shared/api/verify-routes.ts'
import { Fault } from '../../shared/errors.ts'
import { type AnchorLook, checkAnchor, type FoundAnchor } from '../../shared/invariants/anchor.ts'
import { type Checked, checkChain, checkRun, INVARIANTS } from '../../shared/invariants/check-run.ts'
import { checkErasure } from '../../shared/invariants/erased.ts'
import type { AnchorVersion } from '../../shared/runs/anchors.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { httpHandler } from '../http-handler.ts'
import { readStoredRun, type Seal } from '../record/stored-run.ts'
import { requireRun } from '../require-run.ts'

/** Checks a stored run against itself; it changes nothing and mends nothing. */
export const handler = httpHandler({
  name: 'verify-run',
  schema: VERIFY_RUN,
  run: async (call, world) => {
    const erased = await verifyErased(world, { tenant: call.principal.tenant, run_id: call.params.run_id })
    if (erased !== undefined) return { json: erased }
    const { run } = await requireRun(world, call)
    const { seq, seal, checks, anchor } = await verify(world, run)
    const ok = checks.every((check) => check.ok)
    const found = { seal: seal ?? null, anchor: anchor ?? null }
    return { json: { run_id: run.run_id, ok, seq, ...found, checks: checks.map(shortened) } }
  },
})

/** Of a run that was erased: whether its record is the one that was closed, and whether it goes on from the anchored hash. */
async function verifyErased(world: World, run: RunKey) {
  if ((await world.runs.head(run, [])) !== undefined) return undefined
  const { erasure } = showMark(run.run_id, await world.runs.mark(run))
  if (erasure === undefined) return undefined
  const checks = checkErasure(run.run_id, erasure, await anchorsOf(world, run))
  const ok = checks.every((check) => check.ok)
  const seq = erasure.run?.seq ?? 0
  return { run_id: run.run_id, ok, seq, seal: null, anchor: null, checks: checks.map(shortened), erasure }
}

async function anchorsOf({ settings, anchors }: World, run: RunKey): Promise<readonly AnchorVersion[] | undefined> {
  return settings.audit.anchor === 'none' ? undefined : anchors?.versions(run)
}

interface Verified {
  readonly seq: number
  readonly seal?: Seal | undefined
  readonly anchor?: FoundAnchor | undefined
  readonly checks: readonly Checked[]
}

async function verify(world: World, run: RunKey): Promise<Verified> {
  const meta = await world.runs.meta(run)
  if (meta === undefined) return { seq: 0, checks: [unreadable(run, 'it has HEAD but no META')] }
  try {
    const { stored, seal } = await readStoredRun(world, run, meta)
    const { checked, anchor } = checkAnchor(stored, await lookForAnchor(world, run))
    const checks = [checkChain(stored, seal), ...(await checkRun(stored, INVARIANTS, world.clock.turn)), checked]
    return { seq: stored.events.length, seal, anchor, checks }
  } catch (error) {
    // A store that is away says nothing of the run; anything else is a record that cannot be read.
    if (error instanceof Fault && error.name === 'Unavailable') throw error
    world.log.error('a stored run cannot be read', { ...run, error: String(error) })
    return {
      seq: 0,
      checks: [unreadable(run, 'what is stored of it cannot be read; the log has why')],
    }
  }
}

async function lookForAnchor({ settings, anchors, clock }: World, run: RunKey): Promise<AnchorLook> {
  const now = clock.now()
  return settings.audit.anchor === 'none' || anchors === undefined
    ? { now }
    : { now, versions: await anchors.versions(run) }
}

function unreadable({ run_id }: RunKey, why: string): Checked {
  return { n: 1, title: 'the record can be read', ok: false, problems: [`run ${run_id}: ${why}`] }
}

const MAX_PROBLEMS = 20
const MAX_CHARS = 500

function shortened({ problems, ...check }: Checked) {
  const said = problems.slice(0, MAX_PROBLEMS).map((problem) => problem.slice(0, MAX_CHARS).toWellFormed())
  const more = problems.length - MAX_PROBLEMS
  return { ...check, problems: more > 0 ? [...said.slice(0, -1), `${more + 1} more like these`] : said }
}
