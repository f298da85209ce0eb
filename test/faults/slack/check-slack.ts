import { MAIN_TENANT } from '../../../shared/auth/principal.ts'
import type { RunKey } from '../../../shared/runs/run-store.ts'
import type { ApprovalItem } from '../../../shared/runs/run-store-items.ts'
import type { System } from '../system.ts'
import { buttonsOf } from './simulated-slack.ts'

/**
 * Once it is calm: every question that people were asked has its message, with buttons as long as it waits and without
 * them afterwards, but those of a tenant that is not Slack's have none; and no task token was ever sent there.
 */
export async function checkSlack(system: System): Promise<void> {
  const { slack, sim, runs } = system
  if (slack === undefined) return
  for (const key of runs.values()) await checkMessages(system, key)
  const leaked = slack.sent.find((text) => holdsToken(text, system.tokens))
  if (leaked !== undefined) sim.violate(28, `a task token was sent to Slack: ${leaked.slice(0, 300)}`)
}

async function checkMessages(system: System, key: RunKey): Promise<void> {
  const { raw, sim } = system
  const head = await raw.head(key, [])
  if (head === undefined) return
  for (const item of await raw.approvals(key)) {
    const status = head.approvals[item.id]?.status
    // A question whose asker died before it was asked is nobody's.
    if (status === undefined) continue
    const waits = head.state === 'running' && status === 'pending'
    const problem = key.tenant === MAIN_TENANT ? problemOf(system, item, waits) : foreignProblem(item)
    if (problem !== undefined) sim.violate('slack', `the question ${item.id}, ${status}, ${problem}`)
  }
}

function foreignProblem({ slack }: ApprovalItem): string | undefined {
  return slack?.ts === undefined ? undefined : "has a message in another tenant's Slack"
}

function problemOf({ slack }: System, item: ApprovalItem, waits: boolean): string | undefined {
  const message = slack?.messages.get(item.slack?.ts ?? '')
  if (message === undefined) return 'has no message'
  const clickable = buttonsOf(message).length > 0
  if (waits === clickable || message.writer.dead) return undefined
  return clickable ? 'has buttons' : 'has no buttons'
}

/** Tokens of the interpreter are 43 characters of base64url: any 43 of a longer word may be one. */
export function holdsToken(text: string, tokens: ReadonlySet<string>): boolean {
  if (tokens.size === 0) return false
  for (const [word] of text.matchAll(/(?<![\w-])[\w-]{43,}/g)) {
    for (let at = 0; at + TOKEN_CHARS <= word.length; at += 1) {
      if (tokens.has(word.slice(at, at + TOKEN_CHARS))) return true
    }
  }
  return false
}

const TOKEN_CHARS = 43
