import type { ApprovalItem } from '../runs/run-store-items.ts'

/** What a question says besides its words and values. */
export interface QuestionDetails
  extends Pick<ApprovalItem, 'gates' | 'edit' | 'edit_types' | 'tool' | 'allow_rest' | 'on_reject' | 'changes'> {
  readonly on_timeout?: ApprovalItem['on_timeout']
  /** Caps the run has after a yes. */
  readonly raise?: { readonly tokens?: number; readonly usd?: number }
}

/** Of what is stored of it; absent members were not asked for, or not known when it was stored. */
export function questionDetails({ gates, raise, on_timeout, ...item }: ApprovalItem): QuestionDetails {
  const { edit, edit_types, tool, allow_rest, on_reject, changes } = item
  return {
    on_timeout,
    ...(gates === undefined ? {} : { gates }),
    ...(raise === undefined ? {} : { raise: inDollars(raise) }),
    ...(edit === undefined ? {} : { edit }),
    ...(edit_types === undefined ? {} : { edit_types }),
    ...(tool === undefined ? {} : { tool }),
    ...(allow_rest === undefined ? {} : { allow_rest }),
    ...(on_reject === undefined ? {} : { on_reject }),
    ...(changes === undefined ? {} : { changes }),
  }
}

function inDollars({ tokens, usd_micros }: NonNullable<ApprovalItem['raise']>): NonNullable<QuestionDetails['raise']> {
  return {
    ...(tokens === undefined ? {} : { tokens }),
    ...(usd_micros === undefined ? {} : { usd: usd_micros / 1_000_000 }),
  }
}
