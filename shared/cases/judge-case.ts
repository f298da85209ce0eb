import type { Dag } from '../dag/dag.ts'
import type { GateFacts, Verdict } from '../gates/gate.ts'
import { canonicalJson, type Json } from '../text/json.ts'
import { describeValue, quoted } from '../text/wording.ts'
import {
  type Amount,
  type Expected,
  type ExpectedOutput,
  type KnownNames,
  matcherOf,
  type TestCase,
  unknownNames,
  VALUE_PORT,
  type WantedCase,
  withValuePort,
} from './case-file.ts'
import type { PlayedCall, PlayedCase } from './played-case.ts'

/** One thing that is not as the case wants it. */
export interface Miss {
  /** `expect.outputs.publish.text`. */
  readonly what: string
  readonly expected: string
  readonly seen: string
  /** Line by line what differs: `-` was expected, `+` was seen. */
  readonly diff?: readonly string[]
}

/** One case as it came out. */
export interface CaseResult {
  readonly file: string
  readonly name: string
  readonly verdict: 'passed' | 'failed' | 'skipped'
  readonly took_ms: number
  readonly why?: string
  readonly misses: readonly Miss[]
}

/** Judges a check on the value of an output; the place gives it, since gates may need an isolate. */
export type JudgeCheck = (
  check: Readonly<Record<string, Json>>,
  facts: GateFacts,
) => Promise<Pick<Verdict, 'status' | 'reason'>>

/** Everything that is not as the case wants it, in the order of its keys; nothing: it holds. */
export async function judgeCase(one: WantedCase, played: PlayedCase, judge: JudgeCheck): Promise<readonly Miss[]> {
  const { expect = {}, must_not } = one
  const dag = played.runs[0]?.dag
  const unknown = dag === undefined ? [] : unknownNames(one, namesOf(dag, played))
  return [
    ...unknown.map((said) => miss('the case', 'names of its document', said)),
    ...played.problems.map((said) => miss('the case', 'to be played as written', said)),
    ...judgeEnd(expect, played),
    ...judgeBlocks(expect, played),
    ...(await judgeValues('outputs', expect.outputs, played.outputs, judge)),
    ...(await judgeValues('artifacts', expect.artifacts, played.artifacts, judge)),
    ...judgeCounts(expect, played),
    ...(must_not === undefined ? [] : judgeMustNot(must_not, played)),
  ]
}

function namesOf({ blocks, inputs }: Dag, { runs }: PlayedCase): KnownNames {
  // An input that a block takes may be given though the document declares others.
  const taken = runs[0]?.dag.blocks.flatMap((block) => Object.keys(block.inputs)) ?? []
  return {
    blocks: blocks.map(({ id }) => id),
    outputs: blocks.flatMap(({ id, outputs }) => Object.keys(outputs).map((port) => `${id}.${port}`)),
    gates: blocks.flatMap(({ id, pre_gates, post_gates }) =>
      [...pre_gates, ...post_gates].map(({ name }) => `${id}.${name}`),
    ),
    inputs: [...new Set([...Object.keys(inputs), ...taken])],
  }
}

function miss(what: string, expected: string, seen: string, diff?: readonly string[]): Miss {
  return { what, expected, seen, ...(diff === undefined ? {} : { diff }) }
}

function judgeEnd(expect: Expected, played: PlayedCase): readonly Miss[] {
  const why = played.reason === undefined ? '' : ` (${played.code}: ${played.reason})`
  const same = (['status', 'code', 'final_status'] as const).flatMap((key) => {
    const wanted = expect[key]
    const seen = played[key] ?? 'none'
    if (wanted === undefined || wanted === seen) return []
    return [miss(`expect.${key}`, wanted, key === 'status' ? `${seen}${why}` : seen)]
  })
  const { reason = '' } = expect
  if ((played.reason ?? '').includes(reason)) return same
  return [...same, miss('expect.reason', `a reason with ${quoted(reason)}`, played.reason ?? 'none')]
}

function judgeBlocks({ blocks = {}, gates = {} }: Expected, played: PlayedCase): readonly Miss[] {
  const ofBlocks = Object.entries(blocks).flatMap(([id, state]) => {
    const seen = played.blocks[id]?.state ?? 'pending'
    return seen === state ? [] : [miss(`expect.blocks.${id}`, state, seen)]
  })
  const ofGates = Object.entries(gates).flatMap(([name, wanted]) => {
    const verdicts = played.gates[name] ?? []
    const all = verdicts.map((verdict) => verdict.status)
    const seen = typeof wanted === 'string' ? all.slice(-1) : all
    const expected = [wanted].flat()
    if (canonicalJson([...seen]) === canonicalJson([...expected])) return []
    const why = verdicts.at(-1)?.reason
    const said = all.length === 0 ? 'it was not judged' : `${all.join(', ')} (${why})`
    return [miss(`expect.gates.${name}`, expected.join(', '), said)]
  })
  return [...ofBlocks, ...ofGates]
}

async function judgeValues(
  kind: 'outputs' | 'artifacts',
  expected: Readonly<Record<string, ExpectedOutput>> = {},
  seen: Readonly<Record<string, Json>>,
  judge: JudgeCheck,
): Promise<readonly Miss[]> {
  const all = await Promise.all(
    Object.entries(expected).map(async ([name, wanted]) => {
      const what = `expect.${kind}.${name}`
      const matcher = matcherOf(wanted)
      if (!Object.hasOwn(seen, name)) return matcher.absent === true ? [] : [notThere(what, kind, seen)]
      const value = seen[name] ?? null
      if (matcher.absent === true) return [miss(what, 'nothing', shown(value))]
      return [
        ...judgeEqual(what, matcher.equals, value),
        ...judgeContains(what, matcher.contains, value),
        ...(await judgeGates(what, matcher, value, besides(name, seen), judge)),
      ]
    }),
  )
  return all.flat()
}

function notThere(what: string, kind: string, seen: Readonly<Record<string, Json>>): Miss {
  const names = Object.keys(seen)
  const there = names.length === 0 ? `no ${kind} at all` : `${kind} ${names.slice(0, 12).join(', ')}`
  return miss(what, 'a value', `nothing; there are ${there}`)
}

function judgeEqual(what: string, wanted: Json | undefined, value: Json): readonly Miss[] {
  if (wanted === undefined || canonicalJson(wanted) === canonicalJson(value)) return []
  return [miss(what, shown(wanted), shown(value), diffLines(linesOf(wanted), linesOf(value)))]
}

function judgeContains(what: string, wanted: string | readonly string[] = [], value: Json): readonly Miss[] {
  const text = typeof value === 'string' ? value : canonicalJson(value)
  return [wanted]
    .flat()
    .filter((part) => !text.includes(part))
    .map((part) => miss(what, `a text with ${quoted(part)}`, shown(value)))
}

async function judgeGates(
  what: string,
  { schema, gates }: Pick<ReturnType<typeof matcherOf>, 'schema' | 'gates'>,
  value: Json,
  outputs: Readonly<Record<string, Json>>,
  judge: JudgeCheck,
): Promise<readonly Miss[]> {
  const facts: GateFacts = {
    inputs: {},
    outputs: { ...outputs, [VALUE_PORT]: value },
    measured: { cost_usd: null, latency_ms: null },
  }
  const checks = [
    ...(schema === undefined ? [] : [{ type: 'json_schema', port: VALUE_PORT, schema }]),
    ...gates.map(withValuePort),
  ]
  const verdicts = await Promise.all(checks.map(async (check) => ({ check, verdict: await judge(check, facts) })))
  return verdicts
    .filter(({ verdict }) => verdict.status !== 'passed')
    .map(({ check, verdict }) => miss(what, `gate ${String(check.type)} to pass`, verdict.reason))
}

/** The other outputs of the same block: checks may hold one against another. */
function besides(name: string, seen: Readonly<Record<string, Json>>): Readonly<Record<string, Json>> {
  const block = name.slice(0, name.indexOf('.') + 1)
  const own = Object.entries(seen).filter(([key]) => block !== '' && key.startsWith(block))
  return Object.fromEntries(own.map(([key, value]) => [key.slice(block.length), value]))
}

function judgeCounts({ asked, attempts, calls, cost, waited }: Expected, played: PlayedCase): readonly Miss[] {
  const times = (block: string) => played.asked.filter((one) => one === block).length
  return [
    ...amounts('expect.asked', asked, times),
    ...amounts('expect.attempts', attempts, (block) => played.blocks[block]?.attempt ?? 0),
    ...(['model', 'step', 'tool'] as const).flatMap((kind) =>
      amounts(`expect.calls.${kind}s`, calls?.[`${kind}s`], (name) => countCalls(played.calls, kind, name)),
    ),
    ...amounts('expect.cost', cost, (name) => (name === 'usd' ? played.usd : played.tokens)),
    ...(waited === undefined || played.waited_sec <= waited
      ? []
      : [miss('expect.waited', `at most ${waited} s`, `${played.waited_sec} s of virtual time`)]),
  ]
}

function countCalls(calls: readonly PlayedCall[], kind: PlayedCall['kind'], name: string): number {
  const of = calls.filter((call) => call.kind === kind)
  return name === 'all' ? of.length : of.filter((call) => isCalled(call, name)).length
}

function isCalled({ name, model }: PlayedCall, wanted: string): boolean {
  return name === wanted || `${name}/${model}` === wanted
}

function amounts(
  what: string,
  wanted: Readonly<Record<string, Amount | undefined>> = {},
  seenOf: (name: string) => number,
): readonly Miss[] {
  return Object.entries(wanted).flatMap(([name, amount]) => {
    const seen = seenOf(name)
    return amount === undefined || isAmount(amount, seen)
      ? []
      : [miss(`${what}.${name}`, amountWords(amount), String(seen))]
  })
}

function isAmount(amount: Amount, seen: number): boolean {
  if (typeof amount === 'number') return amount === seen
  return seen >= (amount.at_least ?? 0) && seen <= (amount.at_most ?? Number.POSITIVE_INFINITY)
}

function amountWords(amount: Amount): string {
  if (typeof amount === 'number') return String(amount)
  const { at_least, at_most } = amount
  const words = [
    at_least === undefined ? [] : `at least ${at_least}`,
    at_most === undefined ? [] : `at most ${at_most}`,
  ]
  return words.flat().join(', ') || 'any number'
}

function judgeMustNot(must: NonNullable<TestCase['must_not']>, played: PlayedCase): readonly Miss[] {
  const { start = [], ask = [], call = [], show = [], output = [] } = must
  const texts = Object.entries({ ...played.outputs, ...played.artifacts })
  return [
    ...start
      .filter((id) => (played.blocks[id]?.attempt ?? 0) > 0)
      .map((id) => miss('must_not.start', `${id} not to begin`, `${id} is ${played.blocks[id]?.state}`)),
    ...ask
      .filter((id) => played.asked.includes(id))
      .map((id) => miss('must_not.ask', `nobody to be asked about ${id}`, 'somebody was')),
    ...call.flatMap((name) => {
      const times = played.calls.filter((one) => isCalled(one, name)).length
      return times === 0 ? [] : [miss('must_not.call', `${name} not to be called`, `it was, ${times} times`)]
    }),
    ...show.flatMap((text) => {
      const told = played.calls.find(({ seen }) => seen !== undefined && JSON.stringify(seen).includes(inJson(text)))
      return told === undefined
        ? []
        : [miss('must_not.show', `no model to be shown ${quoted(text)}`, `${told.name} was`)]
    }),
    ...output.flatMap((text) =>
      texts
        .filter(([, value]) => JSON.stringify(value).includes(inJson(text)))
        .map(([name]) => miss('must_not.output', `${quoted(text)} in no output`, `it stands in ${name}`)),
    ),
  ]
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** Longer values are told by their beginning, and by the diff. */
const SHOWN = 200

function shown(value: Json): string {
  const text = typeof value === 'object' && value !== null ? canonicalJson(value) : describeValue(value)
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
}

function linesOf(value: Json): readonly string[] {
  return (typeof value === 'string' ? value : JSON.stringify(value, null, 2)).split('\n')
}

/** Lines compared, and shown, at most. */
const COMPARED = 400
const TOLD = 40
/** Equal lines kept around a difference. */
const AROUND = 2

/** Undefined where one line stands against one: that is told already. */
export function diffLines(before: readonly string[], after: readonly string[]): readonly string[] | undefined {
  if (before.length < 2 && after.length < 2) return undefined
  const marked = compare(before.slice(0, COMPARED), after.slice(0, COMPARED))
  const near = marked.map((_, at) => marked.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(isChange))
  const kept = marked.flatMap((line, at) => (near[at] ? [line] : near[at - 1] ? ['  …'] : []))
  return kept.length > TOLD ? [...kept.slice(0, TOLD), '  …'] : kept
}

function isChange(line: string): boolean {
  return !line.startsWith('  ')
}

/** By the longest common subsequence. */
function compare(a: readonly string[], b: readonly string[]): readonly string[] {
  const at = commonLengths(a, b)
  const lines: string[] = []
  let i = 0
  let j = 0
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      lines.push(`  ${a[i]}`)
      i += 1
      j += 1
    } else if (at(i + 1, j) >= at(i, j + 1)) {
      lines.push(`- ${a[i]}`)
      i += 1
    } else {
      lines.push(`+ ${b[j]}`)
      j += 1
    }
  }
  return [...lines, ...a.slice(i).map((line) => `- ${line}`), ...b.slice(j).map((line) => `+ ${line}`)]
}

/** How many lines the rests from `i` and from `j` have in common, in order. */
function commonLengths(a: readonly string[], b: readonly string[]): (i: number, j: number) => number {
  const table = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1))
  const at = (i: number, j: number) => table[i]?.[j] ?? 0
  for (let i = a.length - 1; i >= 0; i -= 1) {
    const row = table[i] ?? new Uint16Array(0)
    for (let j = b.length - 1; j >= 0; j -= 1) {
      row[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  return at
}
