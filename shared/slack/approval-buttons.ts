import { asksWaiver } from '../runs/asks-waiver.ts'
import type { ActionId } from './actions.ts'
import { ACTIONS, OPEN_ACTION } from './actions.ts'
import type { AskedInSlack } from './approval-message.ts'
import type { Block } from './blocks.ts'
import { writeButtonValue } from './button-value.ts'
import { plain } from './plain.ts'

/** What can be done about an approval that waits: a question about gates is waived, everything else approved. */
export function approvalButtons({ item, open_url }: AskedInSlack): Block {
  const mustSayWhy = item.on_reject === 'iterate' || item.on_reject === 'route'
  const button = (action_id: ActionId, words: string, style?: 'primary' | 'danger') => ({
    type: 'button',
    action_id,
    text: plain(words, 75),
    value: writeButtonValue({ approval_id: item.id, decision: ACTIONS[action_id].decision, digest: item.digest }),
    ...(style === undefined ? {} : { style }),
  })
  const open = { type: 'button', action_id: OPEN_ACTION, text: plain('Open', 75), url: open_url }
  return {
    type: 'actions',
    elements: [
      asksWaiver(item) ? button('sluice_waive', 'Waive', 'primary') : button('sluice_approve', 'Approve', 'primary'),
      button(mustSayWhy ? 'sluice_reject_with_reason' : 'sluice_reject', 'Reject', 'danger'),
      ...(open_url === undefined ? [] : [open]),
    ],
  }
}
