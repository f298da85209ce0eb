import { MODAL } from '../../../shared/slack/interaction.ts'
import type { Json } from '../../../shared/text/json.ts'
import { signedHeaders } from '../../emulators/slack-signature.ts'
import { pickFrom } from '../rng.ts'
import type { System } from '../system.ts'
import type { Button, Modal } from './simulated-slack.ts'
import { ALIASES, APP, MEMBERS, SECRET, TEAM } from './workspace.ts'

type Dice = readonly [number, number, number]

const LONGEST_THOUGHT_MS = 30_000
const LATEST_MS = 60_000

/** Somebody in the channel clicks on a button, and writes why where a modal asks for it. */
export async function click(system: System, dice: Dice): Promise<void> {
  const button = pickFrom(system.slack?.buttons() ?? [], dice[0])
  const member = pickFrom(MEMBERS, dice[1])
  if (button !== undefined && member !== undefined) await clickOn(system, button, member, dice)
}

/** Who voted through the API says so in the channel as well: a yes to that question. */
export async function clickToo(system: System, approval_id: string, user: string, dice: Dice): Promise<void> {
  const [member] = Object.entries(ALIASES).find(([, name]) => name === `user:${user}`) ?? []
  const button = system.slack
    ?.buttons()
    .find(({ action_id, value }) => action_id === 'sluice_approve' && value.includes(approval_id))
  if (button !== undefined && member !== undefined) await clickOn(system, button, member, dice)
}

async function clickOn(system: System, button: Button, member: string, dice: Dice): Promise<void> {
  const { slack, sim } = system
  if (slack === undefined) return
  const trigger_id = slack.openTrigger()
  await deliver(system, clickOf(button, member, trigger_id, stampOf(system)), dice[2])
  const modal = slack.modals.find((one) => one.trigger_id === trigger_id)
  if (modal === undefined) return
  await sim.scheduler.delay(dice[0] * LONGEST_THOUGHT_MS)
  const words = dice[1] < 0.9 ? 'It is not good enough yet.' : ''
  await deliver(system, submissionOf(modal, member, words), dice[2])
}

function stampOf({ sim }: System): string {
  return `${Math.floor(sim.scheduler.now() / 1_000)}.${String(sim.scheduler.steps % 1e9).padStart(6, '0')}`
}

function clickOf({ message, action_id, value }: Button, member: string, trigger_id: string, action_ts: string): Json {
  return {
    type: 'block_actions',
    team: { id: TEAM },
    api_app_id: APP,
    user: { id: member },
    trigger_id,
    container: { channel_id: message.channel, message_ts: message.ts },
    actions: [{ action_id, value, action_ts }],
  }
}

function submissionOf({ id, view }: Modal, member: string, words: string): Json {
  const { private_metadata = '' } = view as { readonly private_metadata?: string }
  return {
    type: 'view_submission',
    team: { id: TEAM },
    api_app_id: APP,
    user: { id: member },
    view: {
      id,
      callback_id: MODAL.callback_id,
      private_metadata,
      state: { values: { [MODAL.block_id]: { [MODAL.action_id]: { value: words } } } },
    },
  }
}

/** Slack delivers it once, twice at once, again after a while, or late: with a signature of when it was sent. */
async function deliver(system: System, payload: Json, dice: number): Promise<void> {
  const { sim } = system
  const body = `payload=${encodeURIComponent(JSON.stringify(payload))}`
  const signed = signedHeaders(SECRET, body, Math.floor(sim.scheduler.now() / 1_000))
  const send = (retry?: number) =>
    sendOnce(system, body, retry === undefined ? signed : { ...signed, 'x-slack-retry-num': `${retry}` })
  if (dice > 0.9) await sim.scheduler.delay(dice * LATEST_MS)
  if (dice < 0.2) await Promise.all([send(), send(1)])
  else await send()
  if (dice < 0.2 || dice > 0.4) return
  await sim.scheduler.delay(dice * LATEST_MS)
  await send(1)
}

async function sendOnce(
  { functions, sim }: System,
  body: string,
  signed: Readonly<Record<string, string>>,
): Promise<void> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', ...signed }
  const event = { httpMethod: 'POST', path: '/api/slack/interactions', headers, body, isBase64Encoded: false }
  const call = { from: 'route' as const, who: 'slack-interactions', tenant: 'main' }
  const answer = await functions.invoke('slack-interactions', event, call).catch(() => undefined)
  if (answer === undefined) return
  const { statusCode, body: text } = answer as { readonly statusCode: number; readonly body: string }
  sim.trace(`a click is answered ${statusCode}`)
  if (statusCode === 500) sim.violate(38, `slack-interactions answers 500: ${text.slice(0, 300)}`)
}
