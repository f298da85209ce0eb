import { asksWaiver } from '../../shared/runs/approval.ts'
import type { Head, HeadApproval } from '../../shared/runs/head.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { ApprovalItem } from '../../shared/runs/run-store-items.ts'
import type { Json } from '../../shared/text/json.ts'
import { callRoute, type Reply } from './call-route.ts'
import { hashed, pickFrom } from './rng.ts'
import { clickToo } from './slack/click.ts'
import { USERS } from './slack/workspace.ts'
import type { System } from './system.ts'

type Dice = readonly [number, number, number]

interface Asked {
  readonly key: RunKey
  readonly approval_id: string
  readonly digest: string
}

/** Somebody decides a question of any run of the tenant: yes or no, with words and changes, twice at once, late. */
export async function decide(system: System, dice: Dice, tenant: string): Promise<void> {
  const asked = chosen(system, dice, tenant)
  const item = asked && (await system.raw.approval(asked.key, asked.approval_id))
  if (asked === undefined || item === undefined) return
  const { approval_id, digest } = asked
  const isForged = dice[2] < 0.1
  const sent = isForged ? '0'.repeat(64) : digest
  const first = send(system, asked, bodyOf(item, sent, dice, dice[1] < 0.75), whoOf(dice, 'first'))
  // Twice at once, of two minds.
  const second =
    dice[2] > 0.8 ? send(system, asked, bodyOf(item, sent, dice, dice[1] >= 0.75), whoOf(dice, 'second')) : undefined
  const replies = await Promise.all([first, second])
  const taken = replies.flatMap((reply) => (reply !== undefined && reply.status < 300 ? [reply] : []))
  const last = taken.filter(({ json }) => (json.approval as HeadApproval).status !== 'pending')
  if (last.length > 1) system.sim.violate(13, `${approval_id} was decided twice`)
  if (last.length === 0 && taken.length > 0) await clickToo(system, approval_id, whoOf(dice, 'first'), dice)
  if (taken.length > 0 && isForged) system.sim.violate(13, `${approval_id} was decided with another digest`)
}

/** One that waits; now and then one that others have decided. */
function chosen({ heads, runs }: System, dice: Dice, tenant: string): Asked | undefined {
  const keys = [...runs.values()].filter((key) => key.tenant === tenant)
  const all = keys.flatMap((key) => askedIn(key, heads.get(key.run_id)))
  const open = all.filter(({ status }) => status === 'pending')
  return pickFrom(open, dice[0]) ?? (dice[2] > 0.9 ? pickFrom(all, dice[0]) : undefined)
}

function askedIn(key: RunKey, head: Head | undefined) {
  return Object.entries(head?.approvals ?? {}).map(([approval_id, { digest, status }]) => {
    return { key, approval_id, digest, status }
  })
}

/** Who decides is drawn apart from what. */
function whoOf(dice: Dice, which: string): string {
  return pickFrom(USERS, hashed(Math.floor(dice[1] * 1e9), which)) ?? 'ana'
}

function bodyOf(item: ApprovalItem, digest: string, dice: Dice, isYes: boolean): Json {
  const body = { approval_id: item.id, digest }
  const mood = hashed(Math.floor(dice[0] * 1e9), item.id)
  const feedback = mood < 0.95 ? { feedback: 'It was looked at.' } : {}
  if (isYes)
    return {
      ...body,
      decision: asksWaiver(item) ? 'waive' : 'approve',
      ...feedback,
      ...editsOf(item, mood),
      ...restOf(item, mood),
    }
  return { ...body, decision: 'reject', ...feedback, ...noOf(item, mood) }
}

function editsOf(
  { edit = [], edit_types = {} }: ApprovalItem,
  mood: number,
): { readonly edits?: Readonly<Record<string, Json>> } {
  const [port] = edit
  if (port === undefined || mood < 0.4) return {}
  if (edit_types[port] === 'number') return { edits: { [port]: Math.floor(mood * 1_000) } }
  return { edits: { [port]: mood < 0.8 ? 'good as edited' : 'bad' } }
}

/** Of a call of a tool: for every later one too; or nothing more of its agent. */
function restOf({ allow_rest }: ApprovalItem, mood: number): object {
  return allow_rest === true && mood > 0.6 ? { allow_rest: true } : {}
}

function noOf({ about, on_reject }: ApprovalItem, mood: number): object {
  if (about === 'call') return mood < 0.3 ? { stop: true } : {}
  return on_reject === 'iterate' ? wishOf(mood) : {}
}

function wishOf(mood: number): { readonly iterate?: boolean; readonly restart_mode?: string } {
  if (mood < 0.2) return { iterate: false }
  return mood < 0.6 ? {} : { iterate: true, restart_mode: mood < 0.8 ? 'from_scratch' : 'refine' }
}

function send(system: System, { key }: Asked, body: Json, by: string): Promise<Reply | undefined> {
  const params = { run_id: key.run_id }
  return callRoute(system, 'decide-approval', { tenant: key.tenant, by, params, body: body as object })
}
