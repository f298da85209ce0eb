import type { Json } from '../canonical.ts'
import { MODAL } from './actions.ts'
import { asJson } from './blocks.ts'
import { writeButtonValue } from './button-value.ts'
import { plain } from './plain.ts'
import type { SlackClick } from './read-interaction.ts'

/** The modal that asks for the words of a decision; what it is about travels with it and comes back signed. */
export function reasonModal(click: SlackClick, required: boolean): Json {
  const title = click.decision === 'waive' ? 'Waive' : 'Reject'
  return asJson({
    type: 'modal',
    callback_id: MODAL.callback_id,
    private_metadata: JSON.stringify({
      value: writeButtonValue(click),
      channel: click.channel,
      ts: click.message_ts,
      required,
    }),
    title: plain(title, 24),
    submit: plain(title, 24),
    close: plain('Cancel', 24),
    blocks: [
      {
        type: 'input',
        block_id: MODAL.block_id,
        optional: !required,
        label: plain(required ? 'Why? The run goes on with these words.' : 'Why?', 150),
        element: {
          type: 'plain_text_input',
          action_id: MODAL.action_id,
          multiline: true,
          max_length: MODAL.max_length,
        },
      },
    ],
  })
}

/** The answer to a modal sent without the words it needs. */
export const REASON_MISSING = {
  response_action: 'errors',
  errors: { [MODAL.block_id]: 'A reason is needed: it is recorded with the decision.' },
} as const
