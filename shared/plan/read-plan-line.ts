import type { Upstream } from './critical-path.ts'

/** One DAG of `sluice plan --ndjson`, as plain indexes. */
export interface PlanLine {
  readonly id: string | number
  readonly upstream: Upstream
  readonly seconds: readonly number[]
}

export interface LineError {
  readonly id?: string | number
  readonly error: { readonly code: string; readonly message: string }
}

/** More than a document may have: a compiler can be measured at this size. */
const MAX_LINE_BLOCKS = 10_000
/** A line of them is about 60 MB. */
const MAX_LINE_EDGES = 5_000_000

/** Reads a line {"id","n","edges":[from,to,..],"dur":[seconds]}. Edges may be there twice; without `dur` each takes 1 s. */
export function readPlanLine(text: string, number: number): PlanLine | LineError {
  const value = readJson(text)
  const id = idOf(value)
  if (value === undefined || id === undefined) return refused(number, undefined, 'malformed_line', FORM)
  const { n, edges = [], dur } = value
  if (!isCount(n) || n < 1) return refused(number, id, 'malformed_line', `"n" must be a whole number from 1, ${FORM}`)
  if (n > MAX_LINE_BLOCKS)
    return refused(number, id, 'limit_exceeded', `"n" is ${n}, at most ${MAX_LINE_BLOCKS} blocks are allowed`)
  const wrong = wrongEdges(edges, n) ?? wrongSeconds(dur, n)
  if (wrong !== undefined) return refused(number, id, wrong.code, wrong.why)
  // Checked just above.
  const ends = edges as readonly number[]
  return { id, upstream: upstreamOf(n, ends), seconds: (dur as readonly number[] | undefined) ?? Array(n).fill(1) }
}

export function refused(line: number, id: string | number | undefined, code: string, why: string): LineError {
  return { ...(id !== undefined && { id }), error: { code, message: `Cannot plan line ${line} of stdin: ${why}.` } }
}

const FORM =
  'one JSON object {"id": string or number, "n": blocks, "edges": [from, to, from, to, ..], "dur": [seconds]} is needed'

function readJson(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

/** So that a tool can still tell which of its lines was wrong. */
function idOf(value: Readonly<Record<string, unknown>> | undefined): string | number | undefined {
  const id = value?.id
  return typeof id === 'string' || typeof id === 'number' ? id : undefined
}

interface Wrong {
  readonly code: string
  readonly why: string
}

function wrongEdges(edges: unknown, n: number): Wrong | undefined {
  if (!Array.isArray(edges)) return { code: 'malformed_line', why: `"edges" must be a list of block indexes, ${FORM}` }
  if (edges.length % 2 === 1) {
    return {
      code: 'malformed_line',
      why: `"edges" has ${edges.length} numbers, an even count is needed: from, to, from, to, ..`,
    }
  }
  if (edges.length > 2 * MAX_LINE_EDGES) {
    return {
      code: 'limit_exceeded',
      why: `"edges" names ${edges.length / 2} edges, at most ${MAX_LINE_EDGES} are allowed`,
    }
  }
  const at = edges.findIndex((end) => !isCount(end) || end >= n)
  if (at === -1) return undefined
  const seen = shown(edges[at])
  return { code: 'unknown_block', why: `edges[${at}] is ${seen}, a block index from 0 to ${n - 1} is needed` }
}

function wrongSeconds(dur: unknown, n: number): Wrong | undefined {
  if (dur === undefined) return undefined
  if (!Array.isArray(dur) || dur.length !== n) {
    const seen = Array.isArray(dur) ? `has ${dur.length} numbers` : 'is no list'
    return { code: 'malformed_line', why: `"dur" ${seen}, one number of seconds for each of the ${n} blocks is needed` }
  }
  const at = dur.findIndex((seconds) => typeof seconds !== 'number' || seconds < 0 || seconds > MAX_SECONDS)
  if (at === -1) return undefined
  return { code: 'malformed_line', why: `dur[${at}] is ${shown(dur[at])}, seconds from 0 to ${MAX_SECONDS} are needed` }
}

/** A year: longer than any run lives. */
const MAX_SECONDS = 31_536_000

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 40)
}

function upstreamOf(n: number, edges: readonly number[]): Upstream {
  const upstream: number[][] = Array.from({ length: n }, () => [])
  for (let i = 0; i < edges.length; i += 2) upstream[edges[i + 1] ?? 0]?.push(edges[i] ?? 0)
  return upstream
}
