import { canonicalJson, type Json } from '../../shared/canonical.ts'
import { Fault } from '../../shared/errors.ts'
import { resultValues } from '../../shared/research/result-values.ts'
import { foldRun } from '../../shared/runs/fold.ts'
import type { OutboxEntry } from '../../shared/runs/head.ts'
import type { Meta, RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { allEvents } from '../runs/all-events.ts'
import { readAsked } from './read-asked.ts'
import { readChain } from './read-chain.ts'

type CallWorld = Pick<World, 'runs' | 'objects' | 'http' | 'clock' | 'settings' | 'log'>

const PATIENCE_MS = 10_000
/** Who has not answered for an hour is not told any more. */
const LATEST_MS = 3_600_000
/** Of the body; a larger result is fetched by who wants it. */
const MOST_BYTES = 262_144

/**
 * Tells whoever asked a question that it is answered. Sent at least once, and repeated by the sweeper until the answer
 * is 2xx, for an hour: `id` is the same each time.
 */
export async function callWebhook(world: CallWorld, run: RunKey, { at }: Pick<OutboxEntry, 'at'>): Promise<void> {
  const { webhook: url } = world.settings.research
  const meta = await world.runs.meta(run)
  if (url === undefined || meta?.kind !== 'research') return
  if (world.clock.now() - Date.parse(at) > LATEST_MS) {
    world.log.error('the research webhook was not told for an hour', { run_id: run.run_id })
    return
  }
  const body = await bodyOf(world, meta)
  const answer = await world.http.request({ method: 'POST', url, timeout_ms: PATIENCE_MS, body })
  if (answer.kind === 'answered' && answer.status >= 200 && answer.status <= 299) return
  const said = answer.kind === 'answered' ? `it answered ${answer.status}` : answer.reason
  const message = `Cannot tell the research webhook of run "${run.run_id}": ${said}. It is told again for an hour.`
  throw new Fault('Unavailable', 'webhook_failed', message)
}

async function bodyOf(world: CallWorld, meta: Meta): Promise<Json> {
  const { tenant, run_id } = meta
  const { parent_loop = null } = await readAsked(world, meta)
  const { stage } = foldRun(await allEvents(world, meta))
  const chain = stage === undefined ? undefined : await readChain(world, tenant, stage.ref)
  const { result = null } = chain?.result === undefined ? {} : resultValues(chain.result)
  const event = 'research:continued'
  const told = { v: 1, id: `${run_id}/${event}`, event, run_id, parent_loop, answer: `/api/research/${run_id}` }
  return Buffer.byteLength(canonicalJson(result)) > MOST_BYTES ? told : { ...told, result }
}
