/** Buttons of Sluice's messages by action id: which decision each is, and whether a modal asks for words first. */
export const ACTIONS = {
  sluice_approve: { decision: 'approve', asks: 'nothing' },
  sluice_reject: { decision: 'reject', asks: 'optional' },
  /** Where a rejection goes back to work, it must say what is to be better. */
  sluice_reject_with_reason: { decision: 'reject', asks: 'required' },
  sluice_waive: { decision: 'waive', asks: 'required' },
} as const
export type ActionId = keyof typeof ACTIONS

/** Follows a link; Slack tells of it all the same. */
export const OPEN_ACTION = 'sluice_open'

/** The modal that asks for the words of a decision. */
export const MODAL = {
  callback_id: 'sluice_reason',
  block_id: 'reason',
  action_id: 'words',
  /** As long as the API takes (`feedback`), and Slack's own limit. */
  max_length: 3_000,
} as const
