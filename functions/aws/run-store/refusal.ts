import type { Append, Appended, LaneGuard } from '../../../shared/runs/append.ts'
import { isAsItWas } from '../../../shared/runs/is-as-it-was.ts'
import { fitsBudget } from '../../../shared/runs/run-budget.ts'
import type { StoredHead } from './head-item.ts'

type Because = Extract<Appended, { readonly ok: false }>['because']

/** Why this HEAD refuses the append, in the port's order; undefined when it would take it, were the tail not full. */
export function refusalOf(seen: StoredHead, append: Append): Because | undefined {
  const { head } = seen
  const { lane, guard, approval, start } = append
  if (head.state !== 'running') return 'terminal'
  if (!admits(guard, head.lanes[lane]) || !isOpen(seen, append) || !stands(seen, append)) return 'already'
  if (approval !== undefined && !isAsItWas(head.approvals[approval.id], approval.was)) return 'approval'
  if (start !== undefined && start.limit > 0 && head.running.length >= start.limit) return 'full'
  if (append.reserve !== undefined && !fitsBudget(head.budget, append.reserve)) return 'budget'
  if (!fitsShare(seen, append)) return 'share'
  return undefined
}

function fitsShare(seen: StoredHead, { reserve, share }: Append): boolean {
  if (reserve === undefined || share === undefined) return true
  const { tokens, usd_micros } = seen.share(share.block)
  const { cap_tokens = Number.POSITIVE_INFINITY, cap_usd_micros = Number.POSITIVE_INFINITY } = share
  return tokens + reserve.tokens <= cap_tokens && usd_micros + reserve.usd_micros <= cap_usd_micros
}

function stands({ head }: StoredHead, append: Append): boolean {
  return (append.while ?? []).every(({ lane, is }) => (head.lanes[lane] ?? null) === is)
}

function isOpen({ head, open }: StoredHead, { item_of }: Append): boolean {
  if (item_of === undefined) return true
  const block = String(item_of.block)
  return open.has(block) && (head.lanes[block] ?? Number.POSITIVE_INFINITY) < item_of.below
}

function admits(guard: LaneGuard, ordinal: number | undefined): boolean {
  if ('is' in guard) return (ordinal ?? null) === guard.is
  return ordinal === undefined || ordinal < guard.below
}
