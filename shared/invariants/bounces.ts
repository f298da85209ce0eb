import { type Block, type Bounce, type Dag, REJECTION_GATE } from '../dag/dag.ts'
import { type Pass, passEnd, passesOfBlock } from '../runs/block-passes.ts'
import type { RunEvent } from '../runs/event.ts'
import { defineInvariant } from './invariant.ts'

export const bounces = defineInvariant({
  n: 30,
  title:
    'bounces follow a failed gate, reset what lies between, are counted up to their limit, and none that is due is left',
  of: 'log',
  needs: ['events', 'dag'],
  check({ events, dag, meta }) {
    const sent = events.filter((event) => event.type === 'block:rerouted')
    const owners = dag.blocks.filter(({ id, on_gate_fail = [] }) => {
      return on_gate_fail.length > 0 || sent.some(({ block_id }) => block_id === id)
    })
    return [
      ...resetProblems(events, dag),
      ...owners.flatMap((block) => countProblems(block, sent)),
      ...unfinishedProblems(events),
      // Without it only `_settle` gives a run these ends, when no module has anything to send back.
      ...(meta?.options.fail_fast === true ? [] : owners.flatMap((block) => dueProblems(events, dag, block, sent))),
    ]
  },
})

/** `_settle` comes when every block has ended. */
function unfinishedProblems(events: readonly RunEvent[]): readonly string[] {
  const end = events.at(-1)
  return end?.type === 'run:failed' && end.data.code === 'unfinished_block' ? [end.data.reason] : []
}

/**
 * Of the rules of a block that say the same (where to, how often), an event does not tell which one fired: so many of
 * them may each have counted 1, 2, ..
 */
function countProblems(block: Block, sent: readonly Rerouted[]): readonly string[] {
  const { id, on_gate_fail = [] } = block
  const kindOf = ({ to, max }: { readonly to: string; readonly max: number }) => `${max} times to ${to}`
  const rules = Map.groupBy(on_gate_fail, ({ route_to, max_bounces }) => kindOf({ to: route_to, max: max_bounces }))
  const mine = Map.groupBy(bouncesOf(id, sent), ({ data }) => kindOf(data))
  return [...mine].flatMap(([kind, fired]) => {
    const alike = rules.get(kind)?.length ?? 0
    if (alike === 0) return [`block "${id}" was sent back by no rule of its own (${kind}, event ${fired[0]?.seq})`]
    const counts = Array.from(
      { length: fired.length },
      (_, i) => fired.filter(({ data }) => data.bounce === i + 1).length,
    )
    const isCounted = counts.every((count, i) => count <= alike && count <= (counts[i - 1] ?? alike))
    const max = fired[0]?.data.max ?? 0
    const wrong = isCounted && counts.reduce((a, b) => a + b, 0) === fired.length ? [] : ['are not numbered 1, 2, ..']
    if (fired.some(({ data }) => data.bounce > max)) wrong.push(`are more than ${max}`)
    return wrong.map((what) => `block "${id}": its bounces (${kind}) ${what}`)
  })
}

/** One a bounce: a large one takes several events, and one epoch sends a block back once. */
function bouncesOf(id: string, sent: readonly Rerouted[]): readonly Rerouted[] {
  const seen = new Set<number>()
  return sent.filter(({ block_id, data }) => {
    if (block_id !== id || seen.has(data.epoch)) return false
    seen.add(data.epoch)
    return true
  })
}

function dueProblems(
  events: readonly RunEvent[],
  dag: Dag,
  { id, on_gate_fail = [] }: Block,
  sent: readonly Rerouted[],
): readonly string[] {
  if (!endedByItself(events)) return []
  const last = passesOfBlock(events, id).findLast(({ item }) => item === undefined)
  const failed = last === undefined ? undefined : passEnd(last)
  if (last === undefined || failed?.type !== 'block:failed') return []
  const gates = refusedGates(dag, last, failed)
  const due = on_gate_fail.filter(({ when_gate }) => gates.includes(when_gate))
  const left = due.find((rule) => countOf(rule, id, on_gate_fail, sent) < rule.max_bounces)
  return left === undefined
    ? []
    : [`block "${id}" was left failed, though "${left.when_gate}" may send it back once more`]
}

/** What rules are asked about: the gates that failed, or the rejection by a person. */
function refusedGates(
  dag: Dag,
  { block_id, events }: Pass,
  { attempt, data: { code } }: Extract<RunEvent, { readonly type: 'block:failed' }>,
): readonly string[] {
  const block = dag.blocks.find(({ id }) => id === block_id)
  if (code === 'approval_rejected') return block?.approval?.on_reject === 'route' ? [REJECTION_GATE] : []
  const asked = /^ask_/.test(code) ? events.findLast(({ type }) => type === 'block:asked') : undefined
  const about = asked?.type === 'block:asked' ? asked.data.about : undefined
  if (!/_gate_(failed|refused)$/.test(code) && (about === undefined || about === 'budget')) return []
  const warns = warningsOf(dag, block_id)
  const phase = code === 'post_gate_failed' || about === 'post_gates' ? 'post' : 'pre'
  return events.flatMap((event) => {
    if (event.type !== 'block:gate' || event.attempt !== attempt || event.data.phase !== phase) return []
    return ['passed', 'waived'].includes(event.data.status) || warns.has(event.data.gate) ? [] : [event.data.gate]
  })
}

/** The most that rule can have fired: of rules alike nobody can tell. */
function countOf(rule: Bounce, id: string, rules: readonly Bounce[], sent: readonly Rerouted[]): number {
  const isLike = (to: string, max: number) => to === rule.route_to && max === rule.max_bounces
  const alike = rules.filter(({ route_to, max_bounces }) => isLike(route_to, max_bounces)).length
  const fired = bouncesOf(id, sent).filter(({ data }) => isLike(data.to, data.max)).length
  return alike > 1 ? Math.max(fired, rule.max_bounces * Number(fired > 0)) : fired
}

function warningsOf({ blocks }: Dag, id: string): ReadonlySet<string> {
  const block = blocks.find((one) => one.id === id)
  const uses = [...(block?.pre_gates ?? []), ...(block?.post_gates ?? [])]
  return new Set(uses.flatMap(({ name, on_fail }) => (on_fail === 'warn' ? [name] : [])))
}

function endedByItself(events: readonly RunEvent[]): boolean {
  const end = events.at(-1)
  // A run that was failed from outside (its execution ended) names no block.
  return end?.type === 'run:completed' || (end?.type === 'run:failed' && end.data.block_id !== undefined)
}

type Rerouted = Extract<RunEvent, { readonly type: 'block:rerouted' }>

/** What a bounce resets: blocks that have ended, both its ends, and everything between them. */
function resetProblems(events: readonly RunEvent[], dag: Dag): readonly string[] {
  const after = downstreamOf(dag)
  const last = new Map<string, string>()
  const wrong: string[] = []
  for (const [i, event] of events.entries()) {
    if (event.type !== 'block:rerouted') note(last, event)
    else if (!isPartOfEarlier(events, i)) {
      const reset = partsOf(events, i).flatMap(({ data }) => data.reset)
      wrong.push(...sendProblems(event, reset, last), ...betweenProblems(event, new Set(reset), after))
      for (const id of reset) last.delete(id)
    }
  }
  return wrong
}

function note(last: Map<string, string>, { type, block_id, item }: RunEvent): void {
  if (block_id !== undefined && item === undefined) last.set(block_id, type)
}

/** A large hull, or several rules that fire together, take several events of one epoch of one module. */
function isPartOfEarlier(events: readonly RunEvent[], i: number): boolean {
  const [event, before] = [events[i], events[i - 1]]
  return (
    event?.type === 'block:rerouted' && before?.type === 'block:rerouted' && positionOf(event) === positionOf(before)
  )
}

function partsOf(events: readonly RunEvent[], i: number): readonly Rerouted[] {
  const parts: Rerouted[] = []
  for (const event of events.slice(i)) {
    if (event.type !== 'block:rerouted') break
    if (parts[0] !== undefined && positionOf(event) !== positionOf(parts[0])) break
    parts.push(event)
  }
  return parts
}

function positionOf({ id, data }: Rerouted): string {
  return `${id.split('/')[0]}/${data.epoch}`
}

const ENDED: readonly (string | undefined)[] = [
  'block:completed',
  'block:failed',
  'block:skipped',
  'block:cancelled',
  // A block after the bouncing one has nothing in this pass.
  undefined,
]

function sendProblems(
  { seq, block_id = '', data }: Rerouted,
  reset: readonly string[],
  last: ReadonlyMap<string, string>,
): readonly string[] {
  const wrong: string[] = []
  if (last.get(block_id) !== 'block:failed')
    wrong.push(`event ${seq}: block "${block_id}" is sent back without a failure`)
  for (const id of [data.to, block_id]) {
    if (!reset.includes(id)) wrong.push(`event ${seq}: block "${id}" is sent back and not reset`)
  }
  for (const id of reset) {
    if (!ENDED.includes(last.get(id))) wrong.push(`event ${seq}: block "${id}" is reset at ${last.get(id)}`)
  }
  return wrong
}

function betweenProblems(
  { seq, block_id = '' }: Rerouted,
  reset: ReadonlySet<string>,
  after: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  const before = reach(upstreamOf(after), block_id)
  const left = [...reset].flatMap((id) => (after.get(id) ?? []).filter((to) => before.has(to) && !reset.has(to)))
  return left.length === 0 ? [] : [`event ${seq}: ${left.join(', ')} lies between and is not reset`]
}

function downstreamOf({ blocks }: Dag): ReadonlyMap<string, readonly string[]> {
  const after = new Map<string, string[]>(blocks.map(({ id }) => [id, []]))
  for (const { id, upstream } of blocks) for (const from of upstream) after.get(from)?.push(id)
  return after
}

function upstreamOf(after: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, readonly string[]> {
  const before = new Map<string, string[]>([...after.keys()].map((id) => [id, []]))
  for (const [id, targets] of after) for (const to of targets) before.get(to)?.push(id)
  return before
}

/** The block itself, and all that are reached from it. */
function reach(arrows: ReadonlyMap<string, readonly string[]>, from: string): ReadonlySet<string> {
  const found = new Set([from])
  for (const id of found) for (const next of arrows.get(id) ?? []) found.add(next)
  return found
}
