import { chance, type PlannedBlock, upTo } from '../integration/random-runs.ts'
import type { Random } from './rng.ts'

interface Written {
  readonly inputs: Readonly<Record<string, unknown>>
  readonly approval?: unknown
  readonly on_gate_fail?: unknown
  readonly pre_gates?: unknown
  readonly post_gates?: unknown
  readonly foreach?: unknown
}

/** Who decides on a block that asks, how many, until when, what they may change, and what their no means. */
export function planApproval(block: PlannedBlock, text: Written, random: Random): object {
  if (text.approval === undefined) return {}
  const timeout_sec = chance(random, 0.5) ? 5 + upTo(random, 60) : 90 + upTo(random, 300)
  const approvers = APPROVERS[upTo(random, APPROVERS.length - 1)] ?? []
  const quorum = approvers.length > 0 && chance(random, 0.5) ? 2 + upTo(random, 1) : 1
  const [port] = Object.keys(text.inputs)
  const edits = port !== undefined && quorum === 1 && chance(random, 0.4)
  const approval = {
    ...(text.approval as object),
    timeout_sec,
    approvers,
    quorum,
    ...(chance(random, 0.15) ? { self_approval: false } : {}),
    ...(chance(random, 0.4) ? { remind_sec: Math.min(timeout_sec - 1, 20 + upTo(random, 60)) } : {}),
    ...(chance(random, 0.4)
      ? { escalate: { after_sec: Math.min(timeout_sec - 1, 10 + upTo(random, 80)), to: ['group:leads'] } }
      : {}),
    ...(edits ? { edit: [port] } : {}),
    ...(chance(random, 0.5) ? { reuse: true } : {}),
  }
  return planRejection(block, text, approval, random)
}

/** Bob has two names in one of them. */
const APPROVERS = [
  [],
  [],
  ['group:release'],
  ['user:ana', 'user:bo', 'slack:U0BOB0001', 'user:dan'],
  ['user:bo', 'group:leads'],
]

function planRejection({ id, bounce }: PlannedBlock, text: Written, approval: object, random: Random): object {
  if (chance(random, 0.3)) {
    return { approval: { ...approval, on_reject: 'iterate', max_iterations: 1 + upTo(random, 1) } }
  }
  if (text.foreach !== undefined || chance(random, 0.7)) return { approval }
  const rule = { when_gate: 'approval', route_to: bounce?.to ?? id, max_bounces: 1 }
  const rules = (text.on_gate_fail as object[] | undefined) ?? []
  return { approval: { ...approval, on_reject: 'route' }, on_gate_fail: [...rules, rule] }
}

/** Gates that ask a person instead of failing: of blocks no gate sends back, and checks before the work. */
export function planAsks(text: Written, random: Random): object {
  const asking = (gates: unknown, share: number) =>
    (gates as { readonly on_fail?: string }[]).map((gate) =>
      gate.on_fail === undefined && chance(random, share) ? { ...gate, on_fail: 'ask' } : gate,
    )
  const isAll = text.on_gate_fail === undefined && chance(random, 0.4)
  return {
    ...(text.pre_gates === undefined ? {} : { pre_gates: asking(text.pre_gates, 0.5) }),
    ...(text.post_gates === undefined ? {} : { post_gates: asking(text.post_gates, isAll ? 1 : 0.1) }),
  }
}

/** An input that comes from the context, which people patch, or from an override: what a yes binds of blocks behind it. */
export function planNotes<T extends { readonly [key: string]: unknown }>(
  blocks: readonly T[],
  random: Random,
): readonly T[] {
  return blocks.map((block) => {
    if (!('agent' in block) || 'foreach' in block || chance(random, 0.6)) return block
    return { ...block, inputs: { ...(block.inputs as object), note: { type: 'string', default: 'as planned' } } }
  })
}

/** In some runs the caller sets such an input; where a block may run though another was skipped, that is refused. */
export function planOverrides(
  blocks: readonly { readonly [key: string]: unknown }[],
  random: Random,
): Readonly<Record<string, string>> {
  const noted = blocks.filter(({ inputs }) => Object.hasOwn(inputs as object, 'note'))
  const one = noted[upTo(random, Math.max(0, noted.length - 1))]
  const isRefused = blocks.some(({ depends }) => depends !== undefined)
  return !chance(random, 0.3) || one === undefined || isRefused ? {} : { [`${one.id}.note`]: 'overridden' }
}

/** A budget that is soon used up, and people who may raise it. */
export function planBudget(random: Random): object {
  return chance(random, 0.2) ? { budget: { tokens: 4_200 + upTo(random, 20_000), on_exceed: 'ask' } } : {}
}
