import { Fault } from '../../shared/errors.ts'
import type { Bulk, BulkOutcome } from '../../shared/runs/bulk.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { sha256 } from '../../shared/text/hash.ts'
import type { World } from '../../shared/world.ts'
import { eraseRun } from '../erasure/erase-run.ts'
import { requireRun } from '../require-run.ts'
import { annotateRun } from '../runs/annotate-run.ts'
import { retryRun } from '../runs/retry-run.ts'
import { stopRun } from '../runs/stop.ts'
import { requireScope } from './bulk-rights.ts'

/**
 * Does to one run what a bulk does, as if whoever started it had asked for it alone. Done again it changes nothing: a stop is
 * known by its reason, a retry by its key, an erasure by its mark, a change of labels by its note. What is refused for good is an
 * outcome; what is only not available now is thrown, and tried again.
 */
export async function actOnRun(world: World, bulk: Bulk, run_id: string): Promise<BulkOutcome> {
  const run = { tenant: bulk.tenant, run_id }
  const at = new Date(world.clock.now()).toISOString()
  try {
    requireScope(bulk.by, bulk.action)
    await requireValidToken(world, bulk)
    const made = await ACTIONS[bulk.action](world, bulk, run)
    return { at, ...made }
  } catch (error) {
    if (!(error instanceof Fault) || AGAIN.has(error.name)) throw error
    return { at, refused: { code: error.code, message: error.message } }
  }
}

/** The next look may find it well. */
const AGAIN: ReadonlySet<Fault['name']> = new Set(['Unavailable', 'Bug'])

/** Of a token that was revoked, or has expired, nothing more is done. */
async function requireValidToken(world: World, { by, bulk_id }: Bulk): Promise<void> {
  if (by.kind !== 'token') return
  const token = await world.tokens.get(by.id)
  if (token !== undefined && token.revoked === undefined && Date.parse(token.expires_at) > world.clock.now()) return
  const message = `Cannot go on with bulk "${bulk_id}": the token that started it is not valid any more.`
  throw new Fault('Rejected', 'token_not_valid', message)
}

type Act = (world: World, bulk: Bulk, run: RunKey) => Promise<Pick<BulkOutcome, 'run_id'>>

const ACTIONS: Readonly<Record<Bulk['action'], Act>> = {
  async stop(world, bulk, run) {
    const reason = `${bulk.reason === undefined ? '' : `${bulk.reason}, `}with ${bulk.bulk_id}`
    await stopRun(world, run, bulk.by, reason).catch(async (error: unknown) => {
      const ended = (await world.runs.head(run, []))?.ended
      if (ended?.reason.includes(bulk.bulk_id) !== true) throw error
    })
    return {}
  },
  async retry(world, bulk, run) {
    const { by, bulk_id } = bulk
    const { head } = await requireRun(world, { principal: by, params: run })
    const { begun } = await retryRun(world, by, { run, head, body: {}, key: bulk_id })
    return { run_id: begun.run.run_id }
  },
  async erase(world, { by, reason = '' }, run) {
    await eraseRun(world, run, by, { reason })
    return {}
  },
  async label(world, { by, bulk_id, labels }, run) {
    await requireRun(world, { principal: by, params: run })
    const mark = Buffer.from(sha256(bulk_id), 'hex').subarray(0, NOTE_BYTES)
    const notes = await world.runs.notes(run)
    if (notes.some(({ id }) => id.endsWith(mark.toString('hex')))) return {}
    await annotateRun({ runs: world.runs, clock: world.clock, ids: { ...world.ids, random: () => mark } }, run, by, {
      labels,
    })
    return {}
  },
}

/** As many as annotate-run asks for. */
const NOTE_BYTES = 6
