import { Fault } from '../../../shared/errors.ts'
import { ACTIONS } from '../../../shared/slack/interaction.ts'
import { verifySignature } from '../../../shared/slack/signature.ts'
import type { Slack, SlackMethod } from '../../../shared/slack/slack-port.ts'
import type { Json } from '../../../shared/text/json.ts'
import { blockProblems, viewProblems } from '../../emulators/block-kit.ts'
import { currentInvocation, type Invocation, ifAlive } from '../invocation.ts'
import type { Sim } from '../sim.ts'
import { SECRET } from './workspace.ts'

/** A message as the channel shows it. */
export interface Shown {
  readonly channel: string
  readonly ts: string
  blocks: Json
  /** Who wrote it last: one that died behind that did not look whether it still holds. */
  writer: Invocation
}

export interface Button {
  readonly message: Shown
  readonly action_id: string
  readonly value: string
}

/** A modal somebody sees. */
export interface Modal {
  readonly id: string
  readonly trigger_id: string
  readonly view: Json
}

export interface SimulatedSlack {
  /** The port, behind no fault point of its caller. */
  readonly slack: Slack
  readonly messages: ReadonlyMap<string, Shown>
  readonly modals: readonly Modal[]
  /** Everything it was ever sent, as JSON. */
  readonly sent: readonly string[]
  /** Buttons to click on, of all messages. */
  buttons(): readonly Button[]
  /** Of a click: opens one modal, within 3 s. */
  openTrigger(): string
}

const TRIGGER_MS = 3_000
/** The client gives up (functions/slack/client). */
const PATIENCE_MS = 1_500
const LATEST_MS = 250
const LONGEST_PAUSE_MS = 40_000

/** A workspace with one channel: 429 with Retry-After, 5xx, answers that never come, done or not, triggers that expire. */
export function createSimulatedSlack(sim: Sim): SimulatedSlack {
  const messages = new Map<string, Shown>()
  const modals: Modal[] = []
  const sent: string[] = []
  const triggers = new Map<string, number>()
  const stamp = () => `${1_700_000_000 + messages.size}.000100`

  const post = (args: Args, writer: Invocation) => {
    const ts = stamp()
    messages.set(ts, { channel: String(args.channel), ts, blocks: args.blocks ?? [], writer })
    return { ok: true, ts, channel: String(args.channel) }
  }
  const update = ({ ts, blocks = [] }: Args, writer: Invocation) => {
    const message = messages.get(String(ts))
    if (message === undefined) throw refused('message_not_found')
    Object.assign(message, { blocks, writer })
    return { ok: true, ts: message.ts }
  }
  const remove = ({ ts }: Args) => {
    if (!messages.delete(String(ts))) throw refused('message_not_found')
    return { ok: true }
  }
  const open = ({ trigger_id, view = null }: Args) => {
    const began = triggers.get(String(trigger_id))
    triggers.delete(String(trigger_id))
    if (began === undefined) throw refused('exchanged_trigger_id')
    if (sim.scheduler.now() > began + TRIGGER_MS) throw refused('expired_trigger_id')
    modals.push({ id: `V0SIM${modals.length}`, trigger_id: String(trigger_id), view })
    return { ok: true }
  }
  const METHODS: Readonly<Record<SlackMethod, (args: Args, writer: Invocation) => Readonly<Record<string, Json>>>> = {
    'auth.test': () => ({ ok: true }),
    'chat.postMessage': post,
    'chat.update': update,
    'chat.delete': remove,
    'chat.postEphemeral': () => ({ ok: true }),
    'views.open': open,
  }
  return {
    messages,
    modals,
    sent,
    slack: {
      async call(method, args) {
        const problems = method === 'views.open' ? viewProblems(args.view) : blockProblems(args.blocks, 'message')
        for (const problem of problems) sim.violate('slack', `${method}: ${problem}`)
        sent.push(JSON.stringify(args))
        const writer = currentInvocation()
        return answered(sim, method, () => METHODS[method](args, writer))
      },
      verify: async (request, now) => verifySignature(request, [SECRET], now),
    },
    buttons: () => [...messages.values()].flatMap((message) => buttonsOf(message)),
    openTrigger() {
      const id = `trigger-${triggers.size}-${sim.scheduler.now()}-${modals.length}`
      triggers.set(id, sim.scheduler.now())
      return id
    },
  }
}

type Args = Readonly<Record<string, Json>>

async function answered(
  sim: Sim,
  method: SlackMethod,
  apply: () => Readonly<Record<string, Json>>,
): Promise<Readonly<Record<string, Json>>> {
  const invocation = currentInvocation()
  const kind = sim.faults.strike(`${invocation.name}/web.${method}`, invocation.who, [
    'throttled',
    'refused',
    'lost',
    'unanswered',
    'late',
  ])
  if (kind === undefined) return apply()
  sim.trace(`fault ${kind} at ${method} of ${invocation.who}#${invocation.id}`)
  if (kind === 'throttled') {
    throw away('HTTP 429', { retry_after_ms: 1_000 * Math.ceil((sim.faults.size() * LONGEST_PAUSE_MS) / 1_000) })
  }
  if (kind === 'refused') throw away('HTTP 503')
  if (kind === 'unanswered') apply()
  if (kind === 'late') {
    sim.scheduler.after(PATIENCE_MS + sim.faults.size() * LATEST_MS, () => {
      try {
        apply()
      } catch {
        // Nobody hears it.
      }
    })
  }
  await sim.scheduler.delay(PATIENCE_MS)
  await ifAlive(invocation)
  throw away('no answer')
}

function away(why: string, facts: Readonly<Record<string, Json>> = {}): Fault {
  return new Fault('Unavailable', 'slack_unavailable', `Slack is away: ${why}`, { facts })
}

function refused(error: string): Fault {
  return new Fault('Rejected', `slack_${error}`, `Slack says ${error}`, { facts: { error } })
}

/** What can be clicked on, wherever in the message it is. */
export function buttonsOf(message: Shown): readonly Button[] {
  const found: Button[] = []
  const look = (part: Json | undefined): void => {
    if (typeof part !== 'object' || part === null) return
    const { action_id, value } = part as { readonly action_id?: Json; readonly value?: Json }
    if (typeof action_id === 'string' && Object.hasOwn(ACTIONS, action_id))
      found.push({ message, action_id, value: String(value) })
    for (const inner of Object.values(part)) look(inner)
  }
  look(message.blocks)
  return found
}
