import type { Block, Dag } from '../dag/dag.ts'
import { isNativeHandler, type NativeHandler } from '../dag/native-call.ts'
import { withBlocksAfter } from '../dag/order.ts'
import { leafChecks } from '../gates/check-composition.ts'
import { asksWaiver } from '../runs/approval.ts'
import type { ApprovalItem } from '../runs/run-store-items.ts'
import type { ApprovalCost } from './cost.ts'

export const RISK_LEVELS = ['low', 'medium', 'high'] as const
export type RiskLevel = (typeof RISK_LEVELS)[number]

/** The level is that of the gravest reason; reasons come gravest first. Equal facts make an equal risk. */
interface ApprovalRisk {
  readonly level: RiskLevel
  readonly because: readonly string[]
}

interface RiskFacts {
  readonly question: Question
  readonly coming: readonly Block[]
  readonly cost: ApprovalCost
}

interface Reason {
  readonly level: RiskLevel
  readonly words: string
}

/** The rules are in docs/approvals.md, "The inbox": facts of the document and the run, no opinion of a model. */
export function approvalRisk(facts: RiskFacts): ApprovalRisk {
  const reasons = [...questionReasons(facts.question), ...effectReasons(facts.coming), ...costReasons(facts)]
  const sorted = [...RISK_LEVELS].reverse().flatMap((level) => reasons.filter((reason) => reason.level === level))
  return { level: sorted[0]?.level ?? 'low', because: sorted.map(({ words }) => words) }
}

function questionReasons(question: Question): readonly Reason[] {
  const { about, gates = [], raise, on_timeout, edit = [] } = question
  const reasons: Reason[] = []
  if (asksWaiver(question)) {
    const names = listed(gates.map(({ name }) => name))
    reasons.push({ level: 'high', words: `a yes waives ${counted(gates.length, 'failed gate')}: ${names}` })
  }
  if (about === 'budget') reasons.push({ level: 'medium', words: `a yes raises the budget of the run${caps(raise)}` })
  if (about === 'lost_step') reasons.push({ level: 'high', words: 'a yes does work again that may have been done' })
  if (on_timeout === 'approve') {
    reasons.push({ level: 'medium', words: 'it is approved by itself if nobody decides in time' })
  }
  if (edit.length > 0) reasons.push({ level: 'low', words: `who approves may change ${listed(edit)}` })
  return reasons
}

function caps(raise: Question['raise']): string {
  const tokens = raise?.tokens === undefined ? [] : [`${raise.tokens} tokens`]
  const usd = raise?.usd_micros === undefined ? [] : [`$${raise.usd_micros / 1_000_000}`]
  const words = [...tokens, ...usd]
  return words.length === 0 ? '' : ` to ${words.join(' and ')}`
}

const LEVEL_OF: Readonly<Record<Effect['kind'], RiskLevel>> = {
  command: 'high',
  request: 'medium',
  child: 'medium',
  task: 'medium',
  artifact: 'low',
}

function effectReasons(coming: readonly Block[]): readonly Reason[] {
  return coming.flatMap((block) =>
    effectsOf(block).map(({ kind, words }) => ({ level: LEVEL_OF[kind], words: `block ${block.id} ${words}` })),
  )
}

/** From so many on, blocks to come and dollars they may cost at the most are a risk of their own. */
const MANY_BLOCKS = 20
const MEDIUM_USD = 1
const HIGH_USD = 10

function costReasons({ coming, cost }: RiskFacts): readonly Reason[] {
  const { spent, to_come } = cost
  const reasons = priceReasons(to_come)
  const { length } = coming
  const level = length >= MANY_BLOCKS ? 'medium' : 'low'
  reasons.push({ level, words: `${length === 0 ? 'no block' : counted(length, 'block')} to run after a yes` })
  if (spent.tokens > 0) reasons.push({ level: 'low', words: spentWords(spent) })
  return reasons
}

function priceReasons({ usd, unpriced }: ApprovalCost['to_come']): Reason[] {
  const reasons: Reason[] = []
  const most = usd?.high ?? 0
  if (most > 0) {
    const level = most >= HIGH_USD ? 'high' : most >= MEDIUM_USD ? 'medium' : 'low'
    reasons.push({ level, words: `models of the blocks to come cost $${most} at the most` })
  }
  if (unpriced.length > 0) {
    reasons.push({ level: 'medium', words: `what models cost is unknown in ${listed(unpriced)}` })
  }
  return reasons
}

function spentWords({ tokens, usd, unpriced }: ApprovalCost['spent']): string {
  const money = usd === null ? 'at an unknown price' : `$${usd}`
  const more = usd !== null && unpriced.length > 0 ? ` and the unknown price of ${listed(unpriced)}` : ''
  return `${counted(tokens, 'token')} spent so far, ${money}${more}`
}

function counted(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? '' : 's'}`
}

/** So many names are told, the others counted. */
const TOLD = 5

function listed(names: readonly string[]): string {
  const rest = names.length - TOLD
  return rest > 0 ? `${names.slice(0, TOLD).join(', ')} and ${rest} more` : names.join(', ')
}

/** What a block does that its outputs alone do not show. */
interface Effect {
  readonly kind: 'command' | 'request' | 'child' | 'task' | 'artifact'
  /** For people: `runs a command (gate tests)`. */
  readonly words: string
}

/** Its handler's, its child run's, and those of its gates that reach outside, each once. */
function effectsOf(block: Block): readonly Effect[] {
  const gates = [...block.pre_gates, ...block.post_gates, ...(block.foreach?.item_gates ?? [])]
  const ofGates = gates.flatMap(({ name, check }) =>
    leafChecks(check).flatMap((leaf): readonly Effect[] => {
      const kind = GATES[leaf.type]
      return kind === undefined ? [] : [{ kind, words: `${DOES[kind]} (gate ${name})` }]
    }),
  )
  const all = [...ofWork(block), ...ofGates]
  return all.filter(({ words }, i) => all.findIndex((other) => other.words === words) === i)
}

const GATES: Readonly<Partial<Record<string, 'command' | 'request'>>> = {
  shell: 'command',
  http: 'request',
  webhook: 'request',
}
const DOES = { command: 'runs a command', request: 'calls an address outside' } as const

function ofWork(block: Block): readonly Effect[] {
  if (block.mode === 'dag') return [{ kind: 'child', words: `starts child run ${block.dag.name}` }]
  if (block.mode === 'research') return [{ kind: 'child', words: 'starts a research run' }]
  if (block.mode !== 'deterministic') return []
  if (isNativeHandler(block.handler)) return [ofCall(block.handler, block.config)]
  const { name, to } = block.config
  switch (block.handler) {
    case 'write-artifact':
    case 'write-table':
      return [{ kind: 'artifact', words: `writes artifact ${String(name)}` }]
    case 'classify-table':
      return block.config.artifact === undefined
        ? []
        : [{ kind: 'artifact', words: `writes artifact ${String(block.config.artifact)}` }]
    case 'builtin:write-file':
      return [{ kind: 'artifact', words: 'writes an artifact' }]
    case 'send-event':
      return [{ kind: 'task', words: `sends event ${String(name)} to whoever waits for it` }]
    case 'move-task':
      return [{ kind: 'task', words: `moves the task to ${String(to)}` }]
    default:
      return []
  }
}

function ofCall(handler: NativeHandler, config: Readonly<Record<string, unknown>>): Effect {
  if (handler === 'lambda') return { kind: 'request', words: `has AWS invoke function ${String(config.function)}` }
  if (handler === 'container') return { kind: 'command', words: `runs container ${String(config.container)}` }
  const of = config.resource === undefined ? '' : ` of ${String(config.resource)}`
  return { kind: 'request', words: `has AWS make the call ${String(config.call)}${of}` }
}

/** What the rules of the inbox look at of a question. */
export type Question = Pick<ApprovalItem, 'block_id' | 'about' | 'gates' | 'raise' | 'on_timeout' | 'edit'>

/**
 * What a yes lets begin, in document order: the block itself, but not where its finished work is asked about, and what
 * comes after it, as far as `hasEnded` does not say that it is over.
 */
export function blocksToCome(
  dag: Pick<Dag, 'blocks'>,
  { block_id, about }: Pick<Question, 'block_id' | 'about'>,
  hasEnded: (id: string) => boolean,
): readonly Block[] {
  const after = new Set(withBlocksAfter(dag, block_id))
  return dag.blocks.filter(({ id }) => {
    if (id === block_id) return about !== 'post_gates'
    return after.has(id) && !hasEnded(id)
  })
}
