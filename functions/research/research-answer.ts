import type { ResearchAnswer, ResearchTrace } from '../../shared/api/research-routes.ts'
import { Fault } from '../../shared/errors.ts'
import type { ChainState } from '../../shared/research/chain-state.ts'
import type { Evidence } from '../../shared/research/payloads/candidate-and-evidence.ts'
import { researchBlockOutputs } from '../../shared/research/payloads/result.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { isStageEvent, type StageEvent } from '../../shared/runs/event-types.ts'
import { foldRun } from '../../shared/runs/fold-run.ts'
import type { OutboxEntry } from '../../shared/runs/head.ts'
import type { Meta, RunKey } from '../../shared/runs/run-store.ts'
import { shownPrice } from '../../shared/runs/usage-cost.ts'
import { canonicalJson, type Json } from '../../shared/text/json.ts'
import type { World } from '../../shared/world.ts'
import { allEvents } from '../record/run-log.ts'
import { readChain, readResearchQuestion } from './stored-chain.ts'

interface Filter {
  readonly tier?: string | undefined
  readonly source?: string | undefined
}

/** What GET /api/research tells of an ended chain: folded from its events and the states they name. */
export async function readResearchAnswer(
  world: Pick<World, 'runs' | 'objects'>,
  meta: Meta,
  state: ResearchAnswer['state'],
  filter: Filter,
): Promise<Omit<ResearchAnswer, 'links'>> {
  const { tenant, run_id } = meta
  const events = await allEvents(world, meta)
  const fold = foldRun(events)
  const { code, reason, stage, tokens, started_at, ended_at } = fold
  const chain = stage === undefined ? undefined : await readChain(world, tenant, stage.ref)
  return {
    run_id,
    state,
    ...(code === undefined ? {} : { code }),
    ...(reason === undefined ? {} : { reason }),
    ...(await readResearchQuestion(world, meta)),
    ...resultOf(chain, filter),
    degraded: chain?.degraded ?? [],
    trace: await traceOf(world, tenant, chain, events),
    tokens,
    ...shownPrice(fold),
    ...(started_at === undefined ? {} : { started_at }),
    ...(ended_at === undefined ? {} : { ended_at }),
  }
}

function resultOf(chain: ChainState | undefined, filter: Filter): Pick<ResearchAnswer, 'result' | 'places'> {
  if (chain?.result === undefined) return {}
  const { result } = chain
  if (filter.tier === undefined && filter.source === undefined) return { result }
  const places = (result.evidence ?? []).flatMap((item, at) => (isShown(item, filter) ? [at + 1] : []))
  const evidence = (result.evidence ?? []).filter((item) => isShown(item, filter))
  return { result: { ...result, evidence }, places }
}

function isShown(item: Evidence, { tier, source }: Filter): boolean {
  return (tier === undefined || item.tier === tier) && (source === undefined || item.source === source)
}

/** States that are read at once. */
const READ_AT_ONCE = 8

/** The rows the stages wrote, each with the object it left and what its model decided. */
async function traceOf(
  world: Pick<World, 'objects'>,
  tenant: string,
  chain: ChainState | undefined,
  events: readonly RunEvent[],
): Promise<readonly ResearchTrace[]> {
  const recorded = new Map(events.filter(isStageEvent).map((event) => [event.data.n, event]))
  const rows = chain?.stages ?? []
  const trace: ResearchTrace[] = []
  for (let i = 0; i < rows.length; i += READ_AT_ONCE) {
    const told = rows.slice(i, i + READ_AT_ONCE).map(async (row): Promise<readonly ResearchTrace[]> => {
      const event = recorded.get(row.n)
      if (event === undefined) return []
      return [{ ...row, out_ref: event.data.ref, ...(await decidedBy(world, tenant, event)) }]
    })
    trace.push(...(await Promise.all(told)).flat())
  }
  return trace
}

async function decidedBy(
  world: Pick<World, 'objects'>,
  tenant: string,
  { type, data }: StageEvent,
): Promise<Pick<ResearchTrace, 'decision' | 'assessment'>> {
  if (type !== 'research:routed' && type !== 'research:assessed') return {}
  const { decision, assessment } = await readChain(world, tenant, data.ref)
  if (type === 'research:routed') return decision === undefined ? {} : { decision }
  return assessment === undefined ? {} : { assessment }
}

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
export async function sendAnswerWebhook(world: CallWorld, run: RunKey, { at }: Pick<OutboxEntry, 'at'>): Promise<void> {
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
  const { parent_loop = null } = await readResearchQuestion(world, meta)
  const { stage } = foldRun(await allEvents(world, meta))
  const chain = stage === undefined ? undefined : await readChain(world, tenant, stage.ref)
  const { result = null } = chain?.result === undefined ? {} : researchBlockOutputs(chain.result)
  const event = 'research:continued'
  const told = { v: 1, id: `${run_id}/${event}`, event, run_id, parent_loop, answer: `/api/research/${run_id}` }
  return Buffer.byteLength(canonicalJson(result)) > MOST_BYTES ? told : { ...told, result }
}
