import { MAIN_TENANT } from '../../shared/auth/principal.ts'
import type { EventData, RunEvent } from '../../shared/runs/event.ts'
import { OUTBOX_GRACE_MS } from '../../shared/runs/head.ts'
import { ordinal, PHASE } from '../../shared/runs/lane.ts'
import type { Append, Meta } from '../../shared/runs/run-store.ts'
import { shortRedacted } from '../../shared/text/short-text.ts'
import type { World } from '../../shared/world.ts'
import { allEvents } from '../record/run-log.ts'
import { readChain, readResearchQuestion } from './stored-chain.ts'

/** The lane behind those of the five stages. */
const LANE = 's5'

interface Verdict {
  readonly state: 'completed' | 'failed'
  readonly code: string
  readonly reason: string
}

/**
 * The verdict of a research run: completed with its result, which may be a degraded one; failed where the chain came to
 * its end without any. A loop that asked is told once (research:continued); a block that asked gets its output when
 * the run has ended.
 */
export async function concludeResearch(
  world: Pick<World, 'runs' | 'objects' | 'clock' | 'settings'>,
  meta: Meta,
): Promise<Verdict> {
  const events = await allEvents(world, meta)
  const result = events.findLast(isResult)
  if (result === undefined) return { state: 'failed', code: 'no_result', reason: noResult(events) }
  if (meta.parent === undefined) await continueLoop(world, meta, result.data)
  const { degraded } = await readChain(world, meta.tenant, result.data.ref)
  return { state: 'completed', code: 'completed', reason: answeredWords(result.data.n + 1, degraded) }
}

function answeredWords(steps: number, [first]: readonly string[]): string {
  const words = `answered in ${steps} ${steps === 1 ? 'step' : 'steps'}`
  return shortRedacted(first === undefined ? words : `${words}, degraded: ${first}`)
}

function isResult(event: RunEvent): event is Extract<RunEvent, { type: 'research:synthesized' }> {
  return event.type === 'research:synthesized'
}

function noResult(events: readonly RunEvent[]): string {
  const last = events.findLast(({ type }) => type.startsWith('research:'))
  const after = last === undefined ? 'before its first stage was recorded' : `after ${last.type}`
  return `The research chain ended ${after}, without a result`
}

async function continueLoop(
  world: Pick<World, 'runs' | 'objects' | 'clock' | 'settings'>,
  meta: Meta,
  { n, ref }: EventData<'research:synthesized'>,
): Promise<void> {
  const { parent_loop } = await readResearchQuestion(world, meta)
  if (parent_loop === undefined) return
  const at = ordinal({ epoch: 0, attempt: 0, phase: PHASE.completed })
  const { tenant, run_id } = meta
  await world.runs.append({
    run: { tenant, run_id },
    lane: LANE,
    ordinal: at,
    guard: { below: at },
    at: new Date(world.clock.now()).toISOString(),
    // Its tokens were told by the stages.
    events: [{ type: 'research:continued', data: { n, tokens: 0, ref } }],
    ...webhookOf(world, meta),
  })
}

/** Owed with the event, and sent with what the end of the run owes. */
function webhookOf(
  { clock, settings }: Pick<World, 'clock' | 'settings'>,
  { tenant }: Meta,
): Pick<Append, 'outbox' | 'check_at'> {
  // It is the operator's: who asks in another tenant is told by `webhooks`.
  if (settings.research.webhook === undefined || tenant !== MAIN_TENANT) return {}
  const now = clock.now()
  const at = new Date(now).toISOString()
  return {
    outbox: [{ id: 'webhook', at, kind: 'webhook' }],
    check_at: new Date(now + OUTBOX_GRACE_MS).toISOString(),
  }
}
