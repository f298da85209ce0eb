import { bounceModules } from '../dag/bounce-modules.ts'
import { type Bounce, REJECTION_GATE } from '../dag/dag.ts'
import { LIMITS } from '../limits.ts'
import type { Problem } from '../text/document-problems.ts'
import { type Path, pathText } from '../text/source-position.ts'
import { didYouMean, listed, quoted, suggest } from '../text/wording.ts'
import type { BlockDraft } from './block.ts'
import type { Reading } from './sections.ts'
import type { Reach, Wire } from './wires.ts'

/**
 * The blocks that rules of `on_gate_fail` name: `route_to` is the block itself or done before it; each of
 * `reset_blocks` is that too, or comes after `route_to`: what has nothing to do with the way back is a mistake. A rule
 * sends back at most LIMITS.hull_blocks blocks.
 */
export function checkBounces(
  reading: Reading,
  byId: ReadonlyMap<string, BlockDraft>,
  wires: readonly Wire[],
  reach: Reach,
): void {
  checkRejections(reading, byId.values())
  const rules = [...byId.values()].flatMap(rulesOf)
  for (const rule of rules) checkGate(reading, byId, rule)
  const sound = rules.filter((rule) => checkRule(reading, byId, reach, rule))
  if (sound.length === 0 || reading.problems.some(({ code }) => code === 'cycle')) return
  checkHulls(reading, [...byId.values()], wires, sound)
}

interface Rule {
  readonly block: BlockDraft
  readonly bounce: Bounce
  readonly path: Path
}

function rulesOf(block: BlockDraft): readonly Rule[] {
  const path = [...block.path, 'on_gate_fail']
  return (block.settled.on_gate_fail ?? []).map((bounce, index) => ({ block, bounce, path: [...path, index] }))
}

function checkGate(reading: Reading, byId: ReadonlyMap<string, BlockDraft>, { block, bounce, path }: Rule): void {
  const { gates, settled, id = '' } = block
  const { when_gate } = bounce
  const at = [...path, 'when_gate']
  const rule = `A rule of "on_gate_fail" of block "${id}" is for gate ${quoted(when_gate)}`
  const use = [...settled.pre_gates, ...settled.post_gates].find(({ name }) => name === when_gate)
  if (use?.on_fail === 'warn') warnOfRule(reading, at, `${rule}, which only warns: it never fires.`)
  const isRejection = when_gate === REJECTION_GATE && settled.approval !== undefined
  if (gates.has(when_gate) || (isRejection && settled.approval?.on_reject === 'route')) return
  const other = isRejection ? undefined : [...byId.values()].find((one) => one.gates.has(when_gate))
  if (other !== undefined) {
    const hint = `A rule is for gates of its own block: move it to "${other.id}", or remove it.`
    warnOfRule(reading, at, `${rule}, which is a gate of block "${other.id}": it never fires. ${hint}`)
    return
  }
  const known = isRejection ? gates : [...gates, ...[...byId.values()].flatMap((one) => [...one.gates])]
  const say: Problem['say'] = ({ who }) => ({
    text: `${who} bounces when gate ${quoted(when_gate)} fails, but its gates are ${listed(gates)}`,
    hint: isRejection ? 'Add on_reject: route to its approval.' : didYouMean(suggest(when_gate, known)),
  })
  reading.problems.push({ code: 'unknown_gate_name', path: at, say })
}

function warnOfRule({ warnings }: Reading, path: Path, message: string): void {
  warnings.push({ code: 'rule_without_effect', path: pathText(path), message })
}

function checkRule(reading: Reading, byId: ReadonlyMap<string, BlockDraft>, reach: Reach, rule: Rule): boolean {
  const { block, bounce, path } = rule
  const before = reach.before(block)
  const target = byId.get(bounce.route_to)
  const isBefore = target === block || (target !== undefined && before.has(target))
  if (!isBefore) refuseBlock(reading, byId, rule, bounce.route_to, [...path, 'route_to'])
  const after = target === undefined ? new Set<BlockDraft>() : reach.after(target)
  const strays = bounce.reset_blocks.map((id, index) => {
    const reset = byId.get(id)
    // Without a sound route_to nothing more can be said of a block that exists.
    const fits = reset !== undefined && (!isBefore || reset === block || before.has(reset) || after.has(reset))
    if (!fits) refuseBlock(reading, byId, rule, id, [...path, 'reset_blocks', index])
    return fits
  })
  return isBefore && strays.every(Boolean)
}

function refuseBlock(
  { problems }: Reading,
  byId: ReadonlyMap<string, BlockDraft>,
  { bounce }: Rule,
  id: string,
  path: Path,
): void {
  const isTarget = path.at(-1) === 'route_to'
  const say: Problem['say'] = ({ who }) => {
    const what = `${who} ${isTarget ? 'routes back to' : 'resets'} ${quoted(id)}, but`
    if (!byId.has(id)) {
      const text = `${what} there is no such block; blocks are ${listed(byId.keys())}`
      return { text, hint: didYouMean(suggest(id, byId.keys())) }
    }
    if (isTarget)
      return {
        text: `${what} that block is not done before it`,
        hint: 'Route to the block itself or to one it waits for.',
      }
    const text = `${what} that block is neither done before it nor comes after ${quoted(bounce.route_to)}`
    return { text, hint: 'Remove it, or route back further.' }
  }
  problems.push({ code: byId.has(id) ? 'not_upstream' : 'unknown_block', path, say })
}

function checkHulls(
  { problems }: Reading,
  blocks: readonly BlockDraft[],
  wires: readonly Wire[],
  rules: readonly Rule[],
): void {
  const sources = Map.groupBy(wires, ({ to }) => to)
  // Rules of a block that name the same blocks have the same hull.
  const distinct = new Map(rules.map((rule) => [hullKey(rule), rule]))
  const bounces = Map.groupBy(distinct.values(), ({ block }) => block)
  const modules = bounceModules(
    blocks.map((block) => ({
      id: block.id ?? '',
      index: block.index,
      upstream: (sources.get(block) ?? []).flatMap(({ from }) => from.id ?? []),
      on_gate_fail: (bounces.get(block) ?? []).map(({ bounce }) => bounce),
    })),
  )
  const hulls = new Map(modules.flatMap((module) => module.rules.map(({ bounce, hull }) => [bounce, hull.length])))
  for (const rule of rules) {
    const { path } = rule
    const size = hulls.get(distinct.get(hullKey(rule))?.bounce ?? rule.bounce) ?? 0
    if (size <= LIMITS.hull_blocks) continue
    const text = `sends ${size} blocks back (those it names and all between them); the limit is ${LIMITS.hull_blocks}`
    problems.push({ code: 'limit_exceeded', path, say: ({ place }) => ({ text: `${place} ${text}` }) })
  }
}

function hullKey({ block, bounce }: Rule): string {
  return [block.index, ...new Set([bounce.route_to, ...bounce.reset_blocks])].join(' ')
}

/** `on_reject: route` needs a rule that says where to, and the name it goes by for itself. */
function checkRejections({ problems }: Reading, blocks: Iterable<BlockDraft>): void {
  for (const { path, settled, gates } of blocks) {
    if (settled.approval?.on_reject !== 'route') continue
    const at = [...path, 'approval', 'on_reject']
    const isRouted = settled.on_gate_fail?.some(({ when_gate }) => when_gate === REJECTION_GATE) === true
    if (!isRouted) problems.push({ code: 'route_without_rule', path: at, say: sayUnrouted })
    if (gates.has(REJECTION_GATE)) problems.push({ code: 'duplicate_gate', path: at, say: sayTaken })
  }
}

const sayUnrouted: Problem['say'] = ({ place, who }) => ({
  text: `${place} is "route", but no rule of "on_gate_fail" of ${who} says where to`,
  hint: `Add on_gate_fail: [{ when_gate: ${REJECTION_GATE}, route_to: BLOCK }].`,
})

const sayTaken: Problem['say'] = ({ place, who }) => ({
  text: `${place} is "route", and ${who} has a gate named "${REJECTION_GATE}", which is how rules of "on_gate_fail" call the rejection`,
  hint: 'Rename the gate.',
})
