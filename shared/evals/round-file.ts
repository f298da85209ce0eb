/**
 * What is kept of a round, one run of an evaluation: a file of JSON lines that is only appended to. The first line says what
 * is to be done, then a line each start and each result, and a line at the end. A last line that a dead process left in
 * the middle counts as not written. Read here without a library: the console reads it too.
 */
export interface RoundHead {
  readonly type: 'round'
  readonly v: 1
  readonly eval: string
  readonly round: string
  readonly at: string
  /** Hash of everything that decides what is run: another plan is another round. */
  readonly plan: string
  readonly variants: readonly { readonly name: string; readonly sha256: string }[]
  readonly items: readonly { readonly id: string; readonly sha256: string }[]
  /** Gates of the evaluation itself, as BLOCK/GATE: with what is expected they say what a pass is. */
  readonly asserted: readonly string[]
}

interface StartedLine {
  readonly type: 'started'
  readonly item: string
  readonly variant: string
  readonly run_id: string
}

/** What a gate said of a run: of its first attempt, and in the end. */
export interface GateResult {
  /** BLOCK/GATE */
  readonly gate: string
  readonly type: string
  readonly first: string
  readonly last: string
  /** Of the last verdict: a judge's words too. */
  readonly reason: string
}

export interface ExpectResult {
  readonly name: string
  readonly status: string
  readonly reason: string
}

export interface ResultLine {
  readonly type: 'result'
  readonly item: string
  readonly variant: string
  readonly run_id: string
  readonly dag_hash: string
  readonly state: string
  readonly reason?: string | undefined
  readonly gates: readonly GateResult[]
  readonly expect: readonly ExpectResult[]
  readonly goal?: { readonly status: string; readonly met: number; readonly total: number } | undefined
  readonly tokens: number
  /** null: no price is known. */
  readonly usd: number | null
  readonly unpriced_tokens?: number | undefined
  readonly latency_ms: number | null
  readonly attempts: number
}

interface EndLine {
  readonly type: 'end'
  readonly at: string
  readonly why: 'complete' | 'budget'
}

export type RoundLine = RoundHead | StartedLine | ResultLine | EndLine

export interface Round {
  readonly head: RoundHead
  /** By pairKey: the runs that were started. */
  readonly started: ReadonlyMap<string, string>
  readonly results: readonly ResultLine[]
  readonly end: EndLine | undefined
}

export function pairKey(item: string, variant: string): string {
  return JSON.stringify([item, variant])
}

/** undefined: it does not begin as such a file does. The first result of a pair counts. */
export function readRound(text: string): Round | undefined {
  const end = text.lastIndexOf('\n')
  const lines = text.slice(0, Math.max(end, 0)).split('\n').flatMap(lineOf)
  const [head, ...rest] = lines
  if (head?.type !== 'round') return undefined
  const started = new Map<string, string>()
  const results = new Map<string, ResultLine>()
  let last: EndLine | undefined
  for (const line of rest) {
    if (line.type === 'started') started.set(pairKey(line.item, line.variant), line.run_id)
    if (line.type === 'result' && !results.has(pairKey(line.item, line.variant)))
      results.set(pairKey(line.item, line.variant), line)
    last = line.type === 'end' ? line : undefined
  }
  return { head, started, results: [...results.values()], end: last }
}

function lineOf(text: string): readonly RoundLine[] {
  try {
    const line: unknown = JSON.parse(text)
    return isLine(line) ? [line] : []
  } catch {
    return []
  }
}

/** The members that are read of each kind; a newer program may have written more. */
const MEMBERS: Readonly<Record<string, Readonly<Record<string, 'string' | 'number' | 'list'>>>> = {
  round: {
    eval: 'string',
    round: 'string',
    at: 'string',
    plan: 'string',
    variants: 'list',
    items: 'list',
    asserted: 'list',
  },
  started: { item: 'string', variant: 'string', run_id: 'string' },
  result: {
    item: 'string',
    variant: 'string',
    run_id: 'string',
    state: 'string',
    gates: 'list',
    expect: 'list',
    tokens: 'number',
    attempts: 'number',
  },
  end: { at: 'string', why: 'string' },
}

function isLine(line: unknown): line is RoundLine {
  if (typeof line !== 'object' || line === null || !('type' in line) || typeof line.type !== 'string') return false
  const members = Object.hasOwn(MEMBERS, line.type) ? MEMBERS[line.type] : undefined
  if (members === undefined) return false
  const seen = new Map(Object.entries(line))
  return Object.entries(members).every(([key, kind]) =>
    kind === 'list' ? Array.isArray(seen.get(key)) : typeof seen.get(key) === kind,
  )
}

/** A yes or a no that a run got: `completed`, `passed`, `goal`, `gate BLOCK/GATE` or `expect NAME`. */
export interface Verdict {
  readonly what: string
  readonly passed: boolean
  readonly words: string
}

/**
 * Every yes and no about a run. `passed` is what an evaluation is about: it completed, its goal if it has one was met, and
 * all that the evaluation expects and its own gates hold. One of those that said nothing is no pass.
 */
export function verdictsOf(result: ResultLine, asserted: readonly string[]): readonly Verdict[] {
  const { state, reason = '', goal, gates, expect } = result
  const completed = state === 'completed'
  const met = goal === undefined || goal.status === 'SUCCESS'
  const passing = new Set(gates.filter(({ last }) => last === 'passed').map(({ gate }) => gate))
  const holds = asserted.every((gate) => passing.has(gate)) && expect.every(({ status }) => status === 'passed')
  return [
    { what: 'passed', passed: completed && met && holds, words: '' },
    { what: 'completed', passed: completed, words: reason === '' ? state : `${state}: ${reason}` },
    ...(goal === undefined
      ? []
      : [{ what: 'goal', passed: met, words: `${goal.status}, ${goal.met} of ${goal.total} criteria met` }]),
    ...gates.map(({ gate, last, reason: words }) => ({ what: `gate ${gate}`, passed: last === 'passed', words })),
    ...expect.map(({ name, status, reason: words }) => ({
      what: `expect ${name}`,
      passed: status === 'passed',
      words,
    })),
  ]
}

/** The results of two sides, item by item: of two variants, or of two rounds of one. */
export interface Pair {
  readonly item: string
  readonly a: ResultLine
  readonly b: ResultLine
}

export function pairResults(a: readonly ResultLine[], b: readonly ResultLine[]): readonly Pair[] {
  const right = new Map(b.map((result) => [result.item, result]))
  return a.flatMap((left) => {
    const other = right.get(left.item)
    return other === undefined ? [] : [{ item: left.item, a: left, b: other }]
  })
}

/** What one side passed and the other did not. */
export interface VerdictChange {
  readonly item: string
  readonly what: string
  readonly change: 'better' | 'worse'
  readonly a: ResultLine
  readonly b: ResultLine
  /** Of b. */
  readonly words: string
}

/** From a to b, in the order of the items. `asserted` of a, then of b. */
export function verdictChanges(
  pairs: readonly Pair[],
  asserted: readonly [a: readonly string[], b: readonly string[]],
): readonly VerdictChange[] {
  return pairs.flatMap(({ item, a, b }) => {
    const before = new Map(verdictsOf(a, asserted[0]).map((verdict) => [verdict.what, verdict]))
    return verdictsOf(b, asserted[1]).flatMap(({ what, passed, words }): readonly VerdictChange[] => {
      const was = before.get(what)
      if (was === undefined || was.passed === passed) return []
      return [{ item, what, change: passed ? 'better' : 'worse', a, b, words }]
    })
  })
}
