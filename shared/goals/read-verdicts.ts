import { shown } from '../dag/wording.ts'
import { FINAL_STATUSES, type FinalStatus } from './two-gates.ts'

/** What a block (or a line) claims as its status: nothing is SUCCESS, and a word nobody knows is no more than PARTIAL. */
export function readClaim(claimed: unknown): { readonly status: FinalStatus; readonly known: boolean } {
  if (claimed === undefined || claimed === null) return { status: 'SUCCESS', known: true }
  const status = FINAL_STATUSES.find((one) => one === claimed)
  return { status: status ?? 'PARTIAL', known: status !== undefined }
}

/** What a verifier says keeps the goal from being met: a list of texts. Anything else it may have said is one too. */
export function readBlockers(blockers: unknown): readonly string[] {
  if (blockers === undefined || blockers === null) return []
  const list: readonly unknown[] = Array.isArray(blockers) ? blockers : [blockers]
  return list.map((one) => (typeof one === 'string' ? one : shown(one)))
}
