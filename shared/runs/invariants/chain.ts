import { isRunEnd } from '../is-run-end.ts'
import type { Checked } from './check-run.ts'
import type { StoredRun } from './stored-run.ts'

/** The hash chain as a check of its own, number 0: it needs what only the store knows, how far it is closed. */
export function checkChain(
  { events, head }: StoredRun,
  seal: { readonly seq: number; readonly matches: boolean } | undefined,
): Checked {
  const problems: string[] = []
  if (seal?.matches === false) problems.push(`events 1..${seal.seq} are not those the chain was closed over`)
  // Whoever ends a run, else the sweeper, closes the rest; until then the outbox or check_at keeps it in sight.
  const isAtRest = isRunEnd(events.at(-1)?.type ?? '') && head?.outbox.length === 0 && head.check_at === undefined
  if (isAtRest && seal?.seq !== events.length) {
    problems.push(`the chain is closed at event ${seal?.seq ?? 0}, the run ended with event ${events.length}`)
  }
  const checked = { n: 0, title: CHAIN_TITLE, ok: problems.length === 0, problems }
  return seal === undefined ? { ...checked, left_out: 'this run has no chain' } : checked
}

export const CHAIN_TITLE = 'the stored events are those its hash chain was closed over'
