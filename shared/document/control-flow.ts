import * as z from 'zod'
import type { Block, Bounce, CachePolicy, Foreach, RetryPolicy } from '../dag/dag.ts'
import { parseDepends, parseExpression } from '../dag/expression.ts'
import { templateReferences } from '../dag/template.ts'
import { isName, LIMITS, NAME_RULE } from '../limits.ts'
import type { Problem } from '../text/document-problems.ts'
import type { Json } from '../text/json.ts'
import type { Path } from '../text/source-position.ts'
import { describeValue, didYouMean, listed, quoted, suggest } from '../text/wording.ts'
import { type BlockGates, readItemGates } from './gates.ts'
import type { BlockPorts } from './ports.ts'
import { type Mapping, type Reading, readList, readMember, readSection, SECTIONS } from './sections.ts'

/** Whether, how often and over what a block runs. */
export interface Flow {
  readonly settled: Pick<Block, 'when' | 'depends' | 'on_gate_fail' | 'foreach' | 'cache' | 'retry'>
  readonly reads: Readonly<Record<'when' | 'depends', readonly (readonly string[])[]>>
}

type Keys = 'when' | 'depends' | 'on_gate_fail' | 'foreach' | 'cache' | 'retry'
type Mappable = Readonly<Partial<Record<Keys, Json | undefined>>>

/** What was read of the block before. */
type Known = Pick<BlockGates, 'names' | 'routing'> & { readonly ports: BlockPorts; readonly mode?: Json | undefined }

/** Keys that these modes have no use for: a person is asked once, and a child is a run of its own. */
const ALONE: readonly Keys[] = ['foreach', 'cache']

/** Reads those keys of a block; what they name in other blocks is looked at when all blocks are read. */
export function readFlow(reading: Reading, block: Mappable, path: Path, { ports, mode = 'ai', ...gates }: Known): Flow {
  if (mode === 'approval' || mode === 'dag' || mode === 'research') refuseBeside(reading, block, mode, path, ALONE)
  if (mode === 'wait') refuseBeside(reading, block, mode, path, ['cache'])
  const when = readCondition(reading, block.when, [...path, 'when'], ['inputs'])
  const depends = readDepends(reading, block.depends, [...path, 'depends'])
  const on_gate_fail = readBounces(reading, block.on_gate_fail, [...path, 'on_gate_fail'], gates)
  const foreach = readForeach(reading, block.foreach, [...path, 'foreach'], { ports, names: gates.names })
  const cache = readCache(reading, block.cache, [...path, 'cache'])
  return {
    settled: {
      retry: readRetry(reading, block.retry, [...path, 'retry']),
      ...(when === undefined ? {} : { when: when.text }),
      ...(depends === undefined ? {} : { depends: depends.text }),
      ...(on_gate_fail === undefined ? {} : { on_gate_fail }),
      ...(foreach === undefined ? {} : { foreach }),
      ...(cache === undefined ? {} : { cache }),
    },
    reads: { when: when?.paths ?? [], depends: depends?.paths ?? [] },
  }
}

function refuseBeside(
  { problems }: Reading,
  block: Mappable,
  mode: 'approval' | 'dag' | 'research' | 'wait',
  path: Path,
  keys: readonly Keys[],
): void {
  for (const key of keys) {
    if (block[key] === undefined) continue
    const say: Problem['say'] = ({ who }) => ({
      text: `${who} has "${key}", which does not go with mode "${mode}"`,
      hint: mode === 'dag' ? `Give "${key}" to blocks of the child, or remove it.` : 'Remove it.',
    })
    problems.push({ code: 'mode_mismatch', path: [...path, key], on: 'key', say })
  }
}

function readCache(reading: Reading, given: Json | undefined, path: Path): CachePolicy | undefined {
  const section = given === undefined ? undefined : readSection(reading, SECTIONS.cache, given, path)
  if (section?.max_age_sec === undefined) return undefined
  return { key: 'inputs', max_age_sec: section.max_age_sec }
}

/** An expression as written, and the places it reads. */
interface Condition {
  readonly text: string
  readonly paths: readonly (readonly string[])[]
}

/** An expression over some roots; what cannot be read, or reads from elsewhere, is a problem. */
export function readCondition(
  reading: Reading,
  given: Json | undefined,
  path: Path,
  roots: readonly string[],
): Condition | undefined {
  const text = readText(reading, given, path)
  if (text === undefined) return undefined
  const parsed = parseExpression(text)
  if (!parsed.ok) return refuseCondition(reading, path, parsed.message)
  const { paths } = parsed.expression
  const foreign = paths.find(([root = '']) => !roots.includes(root))?.[0]
  if (foreign === undefined) return { text, paths }
  const hint = didYouMean(suggest(foreign, roots))
  return refuseCondition(reading, path, `it reads ${quoted(foreign)}, and may read ${listed(roots)}`, hint)
}

/** `depends`: an expression over outcomes of blocks. Whether those exist is looked at with the wires. */
function readDepends(reading: Reading, given: Json | undefined, path: Path): Condition | undefined {
  const text = readText(reading, given, path)
  if (text === undefined) return undefined
  const parsed = parseDepends(text)
  return parsed.ok ? { text, paths: parsed.expression.paths } : refuseCondition(reading, path, parsed.message)
}

function readText(reading: Reading, given: Json | undefined, path: Path): string | undefined {
  return given === undefined ? undefined : readMember(reading, z.string(), given, path)
}

function refuseCondition({ problems }: Reading, path: Path, why: string, hint?: string): undefined {
  const say: Problem['say'] = ({ place }) => ({ text: `${place} is not an expression that can be used: ${why}`, hint })
  problems.push({ code: 'malformed_expression', path, say })
}

/** A fan-out over a list. Its placeholder is looked at with the templates of the block (check-references.ts). */
function readForeach(
  reading: Reading,
  given: Json | undefined,
  path: Path,
  { ports, names }: { readonly ports: BlockPorts; readonly names: ReadonlySet<string> },
): Foreach | undefined {
  const section = given === undefined ? undefined : readSection(reading, SECTIONS.foreach, given, path)
  if (section === undefined) return undefined
  const items = readItems(reading, section.items, [...path, 'items'])
  const as = readAs(reading, section.as ?? 'item', [...path, 'as'], ports)
  const seen = new Set([...ports.inputs.keys(), ...ports.outputs.keys(), ...(as === undefined ? [] : [as])])
  const item_gates = readItemGates(reading, section.item_gates, [...path, 'item_gates'], seen, names)
  if (items === undefined || as === undefined) return undefined
  const { max_concurrency = 10, tolerate = 0, fail_fast = true } = section
  return { items, as, max_concurrency, tolerate, fail_fast, item_gates }
}

/** A list, or one placeholder and nothing else: its value itself is taken, not a text made of it. */
function readItems({ problems }: Reading, given: Json | undefined, path: Path): Foreach['items'] | undefined {
  if (Array.isArray(given)) {
    if (given.length <= LIMITS.foreach_items) return given
    const text = `is a list of ${given.length}; the limit is ${LIMITS.foreach_items}`
    problems.push({ code: 'limit_exceeded', path, say: ({ place }) => ({ text: `${place} ${text}` }) })
    return undefined
  }
  if (typeof given === 'string' && isPlaceholder(given.trim())) return given.trim()
  const hint = given === undefined ? 'Add items: "{{inputs.NAME}}".' : undefined
  const say: Problem['say'] = ({ place }) =>
    given === undefined
      ? { text: `${place} is missing`, hint }
      : {
          text: `${place} is ${describeValue(given)}; allowed are a list, and one placeholder such as "{{inputs.files}}"`,
        }
  problems.push({ code: given === undefined ? 'missing_key' : 'invalid_value', path, say })
  return undefined
}

/** Whether it is a path is looked at with the other templates; other text in braces is none at all. */
function isPlaceholder(text: string): boolean {
  return /^\{\{[^{}]*\}\}$/.test(text) && templateReferences(text).length === 1
}

function readAs({ problems }: Reading, given: Json, path: Path, { inputs }: BlockPorts): string | undefined {
  if (typeof given !== 'string' || !isName(given)) {
    const say: Problem['say'] = ({ place }) => ({
      text: `${place} is ${describeValue(given)}; allowed are ${NAME_RULE}`,
    })
    problems.push({ code: 'illegal_name', path, say })
    return undefined
  }
  if (!inputs.has(given)) return given
  const say: Problem['say'] = ({ who }) => ({
    text: `${who} calls each item ${quoted(given)}, which is an input of it already`,
    hint: 'Give "as" a name of its own.',
  })
  problems.push({ code: 'duplicate_name', path: path, say })
  return undefined
}

/** The rules of `on_gate_fail`. The blocks and gates they name are looked at when all blocks are read (check-bounces.ts). */
function readBounces(
  reading: Reading,
  given: Json | undefined,
  path: Path,
  { routing }: Pick<BlockGates, 'routing'>,
): readonly Bounce[] | undefined {
  const rules = readRules(reading, given, path)
  const routed = new Set(Array.isArray(given) ? given.map(whenGate) : [])
  for (const { name, path: at } of routing) if (!routed.has(name)) refuseRoute(reading, name, at)
  return rules
}

function whenGate(rule: Json): Json | undefined {
  return typeof rule === 'object' && rule !== null ? (rule as Mapping).when_gate : undefined
}

function readRules(reading: Reading, given: Json | undefined, path: Path): readonly Bounce[] | undefined {
  const list = given === undefined ? undefined : readList(reading, given, path)
  if (list === undefined || list.length === 0) return undefined
  if (list.length > LIMITS.gates_per_block) {
    const text = `has ${list.length} rules in "on_gate_fail"; the limit is ${LIMITS.gates_per_block}`
    reading.problems.push({ code: 'limit_exceeded', path, on: 'key', say: ({ who }) => ({ text: `${who} ${text}` }) })
    return undefined
  }
  return list.flatMap((rule, index) => readBounce(reading, rule, [...path, index]) ?? [])
}

function readBounce(reading: Reading, given: Json, path: Path): Bounce | undefined {
  const section = readSection(reading, SECTIONS.bounce, given, path)
  if (section === undefined) return undefined
  const { when_gate, max_bounces = 1, reason, feedback_from = 'gate_verdicts' } = section
  const route_to = readMember(reading, z.string(), section.route_to, [...path, 'route_to'])
  const reset = section.reset_blocks ?? []
  const reset_blocks = readMember(reading, z.array(z.string()).max(LIMITS.hull_blocks), reset, [
    ...path,
    'reset_blocks',
  ])
  if (when_gate === undefined || route_to === undefined || reset_blocks === undefined) return undefined
  const told = reason === undefined ? {} : { reason }
  return { when_gate, route_to, reset_blocks, max_bounces, ...told, feedback_from }
}

function refuseRoute({ problems }: Reading, gate: string, path: Path): void {
  const say: Problem['say'] = ({ place, who }) => ({
    text: `${place} is "route", but no rule of "on_gate_fail" of ${who} says where to`,
    hint: `Add on_gate_fail: [{ when_gate: ${gate.slice(0, 80)}, route_to: BLOCK }].`,
  })
  problems.push({ code: 'route_without_rule', path, say })
}

/** Total tries and the delays between them; without `retry` there is one try (docs/dag.md, "Retry"). */
function readRetry(reading: Reading, given: Json | undefined, path: Path): RetryPolicy {
  const section = given === undefined ? undefined : readSection(reading, SECTIONS.retry, given, path)
  return {
    max_attempts: Math.max(1, section?.max_attempts ?? 1),
    backoff: section?.backoff ?? 'exponential',
    delay_ms: section?.delay_ms ?? 1_000,
    max_delay_ms: section?.max_delay_ms ?? 30_000,
    jitter: section?.jitter ?? 'full',
  }
}
