import * as z from 'zod'
import { readJson } from '../api/json-guard.ts'
import { Fault } from '../errors.ts'
import { ACTIONS, type ActionId, MODAL } from './actions.ts'
import { type ButtonValue, readButtonValue } from './button-value.ts'

/** A person's decision as Slack brought it. */
export interface SlackClick extends ButtonValue {
  readonly team: string
  readonly user: string
  /** Where the message is, and which one it is. */
  readonly channel: string
  readonly message_ts: string
  /** What tells this act from another one of the same person: the click's time, or the modal's id. */
  readonly at: string
  readonly feedback?: string
}

/** What a signed request asks for. `foreign`: it is not of the pinned workspace or app, or nothing Slack sends. */
export type Interaction =
  | { readonly kind: 'challenge'; readonly challenge: string }
  | { readonly kind: 'decision'; readonly click: SlackClick }
  /** A modal asks for the words first; `required` as the approval has it. */
  | { readonly kind: 'ask_reason'; readonly click: SlackClick; readonly trigger_id: string; readonly required: boolean }
  | { readonly kind: 'reason_missing' }
  | { readonly kind: 'ignored'; readonly seen: string }
  | { readonly kind: 'foreign'; readonly reason: 'unreadable' | 'wrong_team' | 'wrong_app' }

interface Pinned {
  readonly team_id: string
  readonly app_id?: string | undefined
}

/** Reads a body whose signature holds. What Sluice does not know (other actions, other types) is ignored, not refused. */
export function readInteraction(body: Uint8Array, pinned: Pinned): Interaction {
  const payload = payloadOf(body)
  const head = HeadSchema.safeParse(payload)
  if (!head.success) return { kind: 'foreign', reason: 'unreadable' }
  const { type, challenge, team, api_app_id } = head.data
  if (type === 'url_verification' && challenge !== undefined) return { kind: 'challenge', challenge }
  if (team?.id !== pinned.team_id) return { kind: 'foreign', reason: 'wrong_team' }
  if (pinned.app_id !== undefined && api_app_id !== pinned.app_id) return { kind: 'foreign', reason: 'wrong_app' }
  if (type === 'block_actions') return readActions(payload, pinned.team_id)
  if (type === 'view_submission') return readSubmission(payload, pinned.team_id)
  return { kind: 'ignored', seen: type }
}

const text = (most: number) => z.string().min(1).max(most)
const userId = z.string().regex(/^[UW][A-Z0-9]{2,20}$/)
const channelId = z.string().regex(/^[CGD][A-Z0-9]{2,20}$/)
const stamp = z.string().regex(/^[0-9]{1,12}\.[0-9]{1,9}$/)

const HeadSchema = z.looseObject({
  type: text(100),
  challenge: z
    .string()
    .regex(/^[\w.~+/=-]{1,200}$/)
    .optional(),
  team: z.looseObject({ id: z.string() }).nullish(),
  api_app_id: z.string().optional(),
})

/** Slack sends clicks and modals as a form with one field, and the check of a URL as JSON. */
function payloadOf(body: Uint8Array): unknown {
  try {
    const sent = new TextDecoder('utf-8', { fatal: true }).decode(body)
    if (sent.startsWith('{')) return readJson(sent)
    const fields = new URLSearchParams(sent).getAll('payload')
    return fields.length === 1 ? readJson(fields[0] ?? '') : undefined
  } catch (error) {
    if (error instanceof Fault || error instanceof TypeError) return undefined
    throw error
  }
}

const ActionsSchema = z.looseObject({
  user: z.looseObject({ id: userId }),
  trigger_id: text(300).optional(),
  container: z.looseObject({ channel_id: channelId, message_ts: stamp }),
  actions: z.array(z.looseObject({ action_id: z.string(), value: z.string().optional(), action_ts: stamp })).min(1),
})

function readActions(payload: unknown, team: string): Interaction {
  const parsed = ActionsSchema.safeParse(payload)
  const action = parsed.data?.actions.find(({ action_id }) => Object.hasOwn(ACTIONS, action_id))
  if (!parsed.success || action === undefined) return { kind: 'ignored', seen: 'block_actions' }
  const { asks, decision } = ACTIONS[action.action_id as ActionId]
  const value = readButtonValue(action.value ?? '')
  if (value === undefined || value.decision !== decision) return { kind: 'ignored', seen: action.action_id }
  const { user, container, trigger_id } = parsed.data
  const where = { channel: container.channel_id, message_ts: container.message_ts }
  const click: SlackClick = { ...value, team, user: user.id, ...where, at: action.action_ts }
  if (asks === 'nothing') return { kind: 'decision', click }
  if (trigger_id === undefined) return { kind: 'ignored', seen: action.action_id }
  return { kind: 'ask_reason', click, trigger_id, required: asks === 'required' }
}

const SubmissionSchema = z.looseObject({
  user: z.looseObject({ id: userId }),
  view: z.looseObject({
    id: z.string().regex(/^V[A-Z0-9]{2,30}$/),
    callback_id: z.literal(MODAL.callback_id),
    private_metadata: text(3_000),
    state: z.looseObject({
      values: z.looseObject({
        [MODAL.block_id]: z.looseObject({ [MODAL.action_id]: z.looseObject({ value: z.string().nullish() }) }),
      }),
    }),
  }),
})

/** What the modal was opened for: written by this program, handed back by Slack. */
const MetadataSchema = z.strictObject({ value: z.string(), channel: channelId, ts: stamp, required: z.boolean() })

function readSubmission(payload: unknown, team: string): Interaction {
  const parsed = SubmissionSchema.safeParse(payload)
  if (!parsed.success) return { kind: 'ignored', seen: 'view_submission' }
  const { user, view } = parsed.data
  const metadata = MetadataSchema.safeParse(readMetadata(view.private_metadata))
  const value = readButtonValue(metadata.data?.value ?? '')
  if (!metadata.success || value === undefined) return { kind: 'ignored', seen: 'view_submission' }
  const { channel, ts: message_ts, required } = metadata.data
  const feedback = view.state.values[MODAL.block_id]?.[MODAL.action_id]?.value?.trim().slice(0, MODAL.max_length) ?? ''
  if (required && feedback === '') return { kind: 'reason_missing' }
  const click: SlackClick = { ...value, team, user: user.id, channel, message_ts, at: view.id }
  return { kind: 'decision', click: feedback === '' ? click : { ...click, feedback } }
}

function readMetadata(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
