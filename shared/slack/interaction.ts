import { Fault } from '../errors.ts'
import type { RequestIdentity } from '../runs/run-store.ts'
import type { Json } from '../text/json.ts'
import { readStrictJson } from '../text/strict-json.ts'
import { asJson, plainTextObject } from './block-kit.ts'

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

/**
 * Reads a body whose signature holds. What Sluice does not know (other actions, other types) is ignored, not refused.
 * Without zod: it would be most of what the function that answers Slack may hold (docs/adr/dependencies.md).
 */
export function readInteraction(body: Uint8Array, pinned: Pinned): Interaction {
  const payload = payloadOf(body)
  const type = textAt(payload, 'type')
  if (type === undefined) return { kind: 'foreign', reason: 'unreadable' }
  const challenge = fits(textAt(payload, 'challenge'), /^[\w.~+/=-]{1,200}$/)
  if (type === 'url_verification' && challenge !== undefined) return { kind: 'challenge', challenge }
  if (textAt(payload, 'team', 'id') !== pinned.team_id) return { kind: 'foreign', reason: 'wrong_team' }
  if (pinned.app_id !== undefined && textAt(payload, 'api_app_id') !== pinned.app_id) {
    return { kind: 'foreign', reason: 'wrong_app' }
  }
  if (type === 'block_actions') return readActions(payload, pinned.team_id)
  if (type === 'view_submission') return readSubmission(payload, pinned.team_id)
  return { kind: 'ignored', seen: type.slice(0, 100) }
}

/** Slack sends clicks and modals as a form with one field, and the check of a URL as JSON. */
function payloadOf(body: Uint8Array): unknown {
  try {
    const sent = new TextDecoder('utf-8', { fatal: true }).decode(body)
    if (sent.startsWith('{')) return readStrictJson(sent)
    const fields = new URLSearchParams(sent).getAll('payload')
    return fields.length === 1 ? readStrictJson(fields[0] ?? '') : undefined
  } catch (error) {
    if (error instanceof Fault || error instanceof TypeError) return undefined
    throw error
  }
}

/** The member on this way through objects; undefined where the way ends earlier. */
function at(value: unknown, ...way: readonly string[]): unknown {
  let found = value
  for (const name of way) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined
    found = (found as Readonly<Record<string, unknown>>)[name]
  }
  return found
}

function textAt(value: unknown, ...way: readonly string[]): string | undefined {
  const found = at(value, ...way)
  return typeof found === 'string' ? found : undefined
}

function fits(text: string | undefined, form: RegExp): string | undefined {
  return text !== undefined && form.test(text) ? text : undefined
}

const USER = /^[UW][A-Z0-9]{2,20}$/
const CHANNEL = /^[CGD][A-Z0-9]{2,20}$/
const STAMP = /^[0-9]{1,12}\.[0-9]{1,9}$/

function readActions(payload: unknown, team: string): Interaction {
  const actions = at(payload, 'actions')
  const known = (one: unknown) => Object.hasOwn(ACTIONS, textAt(one, 'action_id') ?? '')
  const action: unknown = Array.isArray(actions) ? actions.find(known) : undefined
  if (action === undefined) return { kind: 'ignored', seen: 'block_actions' }
  const action_id = textAt(action, 'action_id') as ActionId
  const value = readButtonValue(textAt(action, 'value') ?? '')
  const user = fits(textAt(payload, 'user', 'id'), USER)
  const channel = fits(textAt(payload, 'container', 'channel_id'), CHANNEL)
  const message_ts = fits(textAt(payload, 'container', 'message_ts'), STAMP)
  const when = fits(textAt(action, 'action_ts'), STAMP)
  const ignored = { kind: 'ignored', seen: action_id } as const
  if (value === undefined || !isValueOf(action_id, value)) return ignored
  if (user === undefined || channel === undefined || message_ts === undefined || when === undefined) return ignored
  return (
    asked(action_id, { ...value, team, user, channel, message_ts, at: when }, textAt(payload, 'trigger_id')) ?? ignored
  )
}

/** A button says what its action does: nothing else was shown to who clicked it. */
function isValueOf(action_id: ActionId, { decision, follows }: ButtonValue): boolean {
  const action: ButtonAction = ACTIONS[action_id]
  return decision === action.decision && follows === action.follows
}

function asked(action_id: ActionId, click: SlackClick, trigger_id: string | undefined): Interaction | undefined {
  const { asks } = ACTIONS[action_id]
  if (asks === 'nothing') return { kind: 'decision', click }
  if (trigger_id === undefined || trigger_id.length > 300) return undefined
  return { kind: 'ask_reason', click, trigger_id, required: asks === 'required' }
}

function readSubmission(payload: unknown, team: string): Interaction {
  const ignored = { kind: 'ignored', seen: 'view_submission' } as const
  const view = at(payload, 'view')
  if (textAt(view, 'callback_id') !== MODAL.callback_id) return ignored
  const metadata = metadataOf(textAt(view, 'private_metadata') ?? '')
  const id = fits(textAt(view, 'id'), /^V[A-Z0-9]{2,30}$/)
  const user = fits(textAt(payload, 'user', 'id'), USER)
  if (metadata === undefined || id === undefined || user === undefined) return ignored
  const written = textAt(view, 'state', 'values', MODAL.block_id, MODAL.action_id, 'value') ?? ''
  const feedback = written.trim().slice(0, MODAL.max_length)
  const { required, ...about } = metadata
  if (required && feedback === '') return { kind: 'reason_missing' }
  const click: SlackClick = { ...about, team, user, at: id }
  return { kind: 'decision', click: feedback === '' ? click : { ...click, feedback } }
}

/** What the modal was opened for: written by this program, handed back by Slack. */
function metadataOf(json: string) {
  const given = parsed(json)
  const value = readButtonValue(textAt(given, 'value') ?? '')
  const channel = fits(textAt(given, 'channel'), CHANNEL)
  const message_ts = fits(textAt(given, 'ts'), STAMP)
  const required = at(given, 'required')
  if (value === undefined || channel === undefined || message_ts === undefined) return undefined
  return typeof required === 'boolean' ? { ...value, channel, message_ts, required } : undefined
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

interface ButtonAction extends Pick<ButtonValue, 'decision' | 'follows'> {
  readonly asks: 'nothing' | 'optional' | 'required'
}

/** Buttons of Sluice's messages by action id: which decision each is, what follows, and whether a modal asks for words first. */
export const ACTIONS = {
  sluice_approve: { decision: 'approve', asks: 'nothing' },
  sluice_reject: { decision: 'reject', asks: 'optional' },
  /** Where a rejection goes back to work, it must say what is to be better. */
  sluice_reject_with_reason: { decision: 'reject', asks: 'required' },
  sluice_waive: { decision: 'waive', asks: 'required' },
  /** What an agent asks on its own is answered in words. */
  sluice_answer: { decision: 'approve', asks: 'required' },
  /** The tool is not asked about again in this run. */
  sluice_allow_rest: { decision: 'approve', follows: 'rest', asks: 'nothing' },
  /** The call is not made, and its agent ends. */
  sluice_stop: { decision: 'reject', follows: 'stop', asks: 'optional' },
} as const satisfies Readonly<Record<string, ButtonAction>>
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

/** The modal that asks for the words of a decision; what it is about travels with it and comes back signed. */
export function reasonModal(click: SlackClick, required: boolean): Json {
  const { title, label } = MODAL_WORDS[click.follows ?? click.decision]
  return asJson({
    type: 'modal',
    callback_id: MODAL.callback_id,
    private_metadata: JSON.stringify({
      value: writeButtonValue(click),
      channel: click.channel,
      ts: click.message_ts,
      required,
    }),
    title: plainTextObject(title, 24),
    submit: plainTextObject(title, 24),
    close: plainTextObject('Cancel', 24),
    blocks: [
      {
        type: 'input',
        block_id: MODAL.block_id,
        optional: !required,
        label: plainTextObject(required ? label : 'Why?', 150),
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

const WHY = 'Why? The run goes on with these words.'
const MODAL_WORDS = {
  rest: { title: 'Allow', label: WHY },
  stop: { title: 'Deny and stop', label: WHY },
  approve: { title: 'Answer', label: 'Your answer: the agent is told these words.' },
  waive: { title: 'Waive', label: WHY },
  reject: { title: 'Reject', label: WHY },
} as const

/** The answer to a modal sent without the words it needs. */
export const REASON_MISSING = {
  response_action: 'errors',
  errors: { [MODAL.block_id]: 'Words are needed: they are recorded with the decision.' },
} as const

/** What a button of a message stands for: `v1|<approval id>|<decision>[+<follows>]|<digest[0..32]>`. */
interface ButtonValue {
  readonly approval_id: string
  readonly decision: 'approve' | 'reject' | 'waive'
  /** Of a call of an agent: its tool is allowed for the rest of the run, or the agent is stopped. */
  readonly follows?: 'rest' | 'stop'
  /** The first half of the digest of what the message shows: a decision is bound to it. */
  readonly digest: string
}

/** At most 2,000 characters are allowed; this has about 80. */
export function writeButtonValue({ approval_id, decision, follows, digest }: ButtonValue): string {
  return `v1|${approval_id}|${decision}${follows === undefined ? '' : `+${follows}`}|${digest.slice(0, 32)}`
}

/** undefined: not one that this version wrote. */
export function readButtonValue(text: string): ButtonValue | undefined {
  const [, approval_id, decision, follows, digest] = FORM.exec(text) ?? []
  if (approval_id === undefined || decision === undefined || digest === undefined) return undefined
  // The pattern lets nothing else through.
  const value = { approval_id, decision: decision as ButtonValue['decision'], digest }
  return follows === undefined ? value : { ...value, follows: follows as NonNullable<ButtonValue['follows']> }
}

const FORM =
  /^v1\|(apr_[0-9a-hjkmnp-tv-z]{26}_[0-9a-z]{1,4}_[0-9]{1,6}(?:_(?:i[0-9]{1,6})?a[0-9]{1,4})?)\|(approve|reject|waive)(?:\+(rest|stop))?\|([0-9a-f]{32})$/

/** What makes two deliveries the same click: its content, never how often Slack says that it sent it. */
export function clickIdempotencyKey(tenant: string, click: SlackClick): RequestIdentity {
  const { team, user, approval_id, decision, follows, at } = click
  const said = follows === undefined ? decision : `${decision}+${follows}`
  return { tenant, route: 'slack', key: [team, user, approval_id, said, at].join('|') }
}
