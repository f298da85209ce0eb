import type { RunEvent } from '../../shared/runs/event.ts'
import type { BlockState } from '../../shared/runs/run-store.ts'
import type { RunAnswer } from './fetch-run.ts'

/** One block as the live view shows it. Times are milliseconds since 1970. */
export interface BlockView {
  readonly id: string
  readonly state: BlockState
  /** 0 before the first. */
  readonly attempt: number
  readonly max_attempts?: number
  /** Start of the first attempt. */
  readonly started_at?: number
  readonly ended_at?: number
  /** Verdicts of the present attempt. */
  readonly passed: number
  readonly failed: number
  /** The newest thing worth a sentence: why it failed, waits or tries again. */
  readonly note?: string
}

/** A run folded from its events: the CLI's own fold, for people to watch; the API's answer is the record. */
export interface RunView {
  readonly run_id: string
  readonly dag_name: string
  readonly state: string
  readonly reason?: string
  readonly started_at?: number
  readonly ended_at?: number
  readonly blocks: ReadonlyMap<string, BlockView>
  readonly tokens: number
  readonly usd_micros: number
}

/** The view before any event, blocks in document order. */
export function newRunView({ run, blocks }: RunAnswer): RunView {
  const views = Object.entries(blocks).map(([id, { max_attempts }]): [string, BlockView] => [
    id,
    { id, ...(max_attempts !== undefined && { max_attempts }), state: 'pending', attempt: 0, passed: 0, failed: 0 },
  ])
  const { run_id, dag_name } = run
  return { run_id, dag_name, state: 'running', blocks: new Map(views), tokens: 0, usd_micros: 0 }
}

/** The view after one more event; events of types it does not know change nothing. */
export function applyEvent(view: RunView, event: RunEvent): RunView {
  const at = Date.parse(event.at)
  if (event.type === 'run:started') return { ...view, started_at: at }
  if (event.type.startsWith('run:')) return ended(view, event, at)
  if (event.block_id === undefined) return view
  const block = view.blocks.get(event.block_id)
  if (block === undefined) return view
  const blocks = new Map(view.blocks).set(block.id, { ...block, ...blockChange(block, event, at) })
  return { ...view, ...spent(view, event), blocks }
}

/** A terminal run event cancels every block that has not ended (decisions, "Events"). */
function ended(view: RunView, event: RunEvent, at: number): RunView {
  const { reason } = event.data as { reason?: string }
  const blocks = [...view.blocks.values()].map((block): [string, BlockView] => [
    block.id,
    ENDED.has(block.state) ? block : { ...block, state: 'cancelled', ended_at: at },
  ])
  const state = event.type.slice('run:'.length)
  return { ...view, state, ended_at: at, blocks: new Map(blocks), ...(reason !== undefined && { reason }) }
}

const ENDED: ReadonlySet<BlockState> = new Set(['completed', 'failed', 'skipped', 'cancelled'])

function spent(view: RunView, event: RunEvent): Partial<RunView> {
  if (event.type !== 'block:output') return {}
  const { tokens_in, tokens_out, usd_micros } = event.data
  return { tokens: view.tokens + tokens_in + tokens_out, usd_micros: view.usd_micros + (usd_micros ?? 0) }
}

function blockChange(block: BlockView, event: RunEvent, at: number): Partial<BlockView> {
  switch (event.type) {
    case 'block:ready':
      return { state: 'ready' }
    case 'block:started':
      return {
        state: 'running',
        attempt: event.attempt ?? block.attempt + 1,
        started_at: block.started_at ?? at,
        passed: 0,
        failed: 0,
      }
    case 'block:gate':
      return verdict(block, event.data)
    case 'block:retrying':
      return { state: 'retrying', note: event.data.reason }
    case 'block:completed':
      return { state: 'completed', ended_at: at }
    case 'block:failed':
      return { state: 'failed', ended_at: at, note: event.data.reason }
    case 'block:skipped':
      return { state: 'skipped', ended_at: at, note: `because of ${event.data.because.join(', ')}` }
    case 'approval:requested':
      return { state: 'paused_approval', note: 'waits for a person' }
    case 'approval:decided':
      return { state: 'ready', note: decided(event.data) }
    case 'approval:expired':
      return { note: `approval expired: ${event.data.on_timeout}` }
    default:
      return {}
  }
}

function verdict(block: BlockView, data: { gate: string; status: string; reason: string }): Partial<BlockView> {
  if (data.status === 'passed') return { passed: block.passed + 1 }
  return { failed: block.failed + 1, note: `${data.gate}: ${data.reason}` }
}

function decided(data: { decision: string; by: { kind: string; id: string } }): string {
  return `${data.decision === 'approve' ? 'approved' : 'rejected'} by ${data.by.kind}:${data.by.id}`
}
