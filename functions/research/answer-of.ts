import type { ResearchAnswer, ResearchTrace } from '../../shared/api/research-routes.ts'
import type { ChainState } from '../../shared/research/chain-state.ts'
import type { Evidence } from '../../shared/research/evidence.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { foldRun } from '../../shared/runs/fold.ts'
import type { Meta } from '../../shared/runs/run-store.ts'
import { shownPrice } from '../../shared/runs/shown-price.ts'
import { isStageEvent, type StageEvent } from '../../shared/runs/stage-events.ts'
import type { World } from '../../shared/world.ts'
import { allEvents } from '../runs/all-events.ts'
import { readAsked } from './read-asked.ts'
import { readChain } from './read-chain.ts'

interface Filter {
  readonly tier?: string | undefined
  readonly source?: string | undefined
}

/** What GET /api/research tells of an ended chain: folded from its events and the states they name. */
export async function answerOf(
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
    ...(await readAsked(world, meta)),
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
