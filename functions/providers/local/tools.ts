import * as z from 'zod'
import { renderTemplate } from '../../../shared/dag/template.ts'
import { tableStatistics } from '../../../shared/table/statistics.ts'
import { tableSentences } from '../../../shared/table/table-sentences.ts'
import { readTable, type Table } from '../../../shared/table/tabular-data.ts'
import type { Json } from '../../../shared/text/json.ts'
import { distinctProseSentences, type Source, termsOf } from './input-sentences.ts'

/** What a tool works on; everything is data of the request. */
export interface Task {
  readonly prompt: string
  readonly params: Readonly<Record<string, Json>>
  readonly inputs: Readonly<Record<string, Json>>
  readonly sources: readonly Source[]
}

/** A text and the same as a value for json ports. */
export interface Draft {
  readonly text: string
  readonly value: Json
  /** The mark of a further line when feedback asks for more; `1.` counts on. */
  readonly bullet: '' | '-' | '1.'
  /** Further sentences, best first, before those of the inputs in their order. */
  readonly reserve: readonly string[]
}

/** One deterministic text tool; `port` is the string port the text is for, when it matters. */
export type Tool = (task: Task, port?: string) => Draft | { readonly problem: string }

/**
 * Model `template`: renders params.template over the inputs (`{{inputs.x.y}}`, values only). With several string ports
 * params.template may be a mapping port -> template. As a value: the rendered text when it is JSON, else {text}.
 */
export const template: Tool = ({ params, inputs }, port) => {
  const source = sourceOf(params.template, port)
  if (source === undefined) {
    return {
      problem: `it needs model_params.template, a text${port === undefined ? '' : ` for port "${port}"`} with {{inputs.name}} in it.`,
    }
  }
  const rendered = renderTemplate(source, inputs)
  if (rendered.ok) return draftOf(rendered.text)
  const missing = rendered.missing.map((path) => `inputs.${path}`).join(', ')
  return {
    problem: `its template reads ${missing}, which has no value; inputs are ${Object.keys(inputs).join(', ') || 'none'}.`,
  }
}

function sourceOf(template: Json | undefined, port: string | undefined): string | undefined {
  if (typeof template === 'string') return template
  if (typeof template !== 'object' || template === null || Array.isArray(template)) return undefined
  const texts = template as Readonly<Record<string, Json>>
  const text = port !== undefined && Object.hasOwn(texts, port) ? texts[port] : Object.values(texts)[0]
  return typeof text === 'string' ? text : undefined
}

function draftOf(text: string): Draft {
  return { text, value: parsed(text) ?? { text }, bullet: '', reserve: [] }
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

const ParamsSchema = z.object({
  /** How many sentences; 5 when absent. */
  sentences: z.int().min(1).max(50).default(5),
  format: z.enum(['text', 'list']).default('text'),
})

interface Candidate {
  readonly text: string
  readonly place: number
  readonly terms: ReadonlySet<string>
}

/**
 * Model `extract`: the sentences of the inputs (of the prompt, when the inputs have none) that together best cover the
 * prompt's terms, in their own order. Greedy: each next one adds most weight of terms not yet covered, rare terms
 * weigh more, long sentences less; a tie goes to the earlier. params.sentences 1..50, params.format text or list.
 */
export const extract: Tool = (task) => {
  const params = ParamsSchema.safeParse(task.params)
  if (!params.success) {
    const [issue] = params.error.issues
    return {
      problem: `model_params.${issue?.path.join('.')}: ${issue?.message}. Allowed: sentences 1 to 50, format text or list.`,
    }
  }
  const candidates = candidatesOf(task)
  const weights = weightsOf(candidates, termsOf(task.prompt))
  const best = cover(candidates, weights, params.data.sentences)
  const chosen = best.toSorted((left, right) => left.place - right.place).map(({ text }) => text)
  const picked = new Set(best)
  const reserve = candidates
    .filter((candidate) => !picked.has(candidate))
    .map((candidate) => ({ text: candidate.text, score: score(candidate, weights) }))
    .toSorted((left, right) => right.score - left.score)
  const list = params.data.format === 'list'
  return {
    text: list ? chosen.map((text) => `- ${text}`).join('\n') : chosen.join(' '),
    value: { sentences: chosen },
    bullet: list ? '-' : '',
    reserve: reserve.map(({ text }) => text),
  }
}

function candidatesOf({ sources, prompt }: Task): readonly Candidate[] {
  const said = [...new Set(sources.flatMap(({ sentences }) => sentences))]
  return (said.length > 0 ? said : distinctProseSentences(prompt)).map((text, place) => ({
    text,
    place,
    terms: new Set(termsOf(text)),
  }))
}

/** The prompt's terms by rarity among the candidates: log(1 + all / those that have it). */
function weightsOf(candidates: readonly Candidate[], terms: readonly string[]): ReadonlyMap<string, number> {
  const wanted = new Set(terms)
  const having = new Map<string, number>()
  for (const candidate of candidates) {
    for (const term of candidate.terms) if (wanted.has(term)) having.set(term, (having.get(term) ?? 0) + 1)
  }
  return new Map([...having].map(([term, count]) => [term, Math.log(1 + candidates.length / count)]))
}

function cover(candidates: readonly Candidate[], weights: ReadonlyMap<string, number>, count: number): Candidate[] {
  const chosen: Candidate[] = []
  const left = new Set(candidates)
  let open = new Map(weights)
  while (chosen.length < count && left.size > 0) {
    const best = mostOf(left, open)
    // Everything is covered once: cover it again rather than stop early.
    if (best.gain === 0 && open.size < weights.size) {
      open = new Map(weights)
      continue
    }
    if (best.candidate === undefined) break
    chosen.push(best.candidate)
    left.delete(best.candidate)
    for (const term of best.candidate.terms) open.delete(term)
  }
  return chosen
}

function mostOf(candidates: Iterable<Candidate>, weights: ReadonlyMap<string, number>) {
  let best: { readonly gain: number; readonly candidate?: Candidate } = { gain: -1 }
  for (const candidate of candidates) {
    const gain = score(candidate, weights)
    if (gain > best.gain) best = { gain, candidate }
  }
  return best
}

function score({ terms }: Candidate, weights: ReadonlyMap<string, number>): number {
  let sum = 0
  for (const term of terms) sum += weights.get(term) ?? 0
  return sum / Math.sqrt(terms.size + 4)
}

const MAX_POINTS = 12
/** Points looked at to find them: an input that says nothing new is given up here. */
const MAX_LOOKED_AT = 200

interface Item {
  readonly line: string
  readonly points: readonly string[]
}

/**
 * Model `outline`, and every name that is no tool: a numbered list of the prompt's own sentences (long ones with their
 * clauses below) and of what each input brings: its headings and list items, its sentences with numbers, or at least
 * its first sentences; at most twelve points an input, nothing twice. Asked for more it adds a check for each point. As a
 * value: {items: [text]}.
 */
export const outline: Tool = ({ prompt, sources }) => {
  const said = new Set(sources.flatMap(({ sentences }) => sentences))
  const asked = distinctProseSentences(prompt).filter((sentence) => !said.has(sentence))
  const seen = [...asked]
  const fromInputs = sources.flatMap((source) => inputItem(source, seen))
  const items = [...asked.map((line) => ({ line, points: clausesOf(line) })), ...fromInputs]
  const lines = items.flatMap(({ line, points }, at) => [
    `${at + 1}. ${line}`,
    ...points.map((point) => `   - ${point}`),
  ])
  const checked = items.flatMap(({ line, points }) => (points.length > 0 ? points : [line]))
  const reserve = checked.map((point) => `Check: ${point}`)
  return { text: lines.join('\n'), value: { items: items.map(({ line }) => line) }, bullet: '1.', reserve }
}

function inputItem({ name, headings, sentences }: Source, seen: string[]): readonly Item[] {
  const numbered = sentences.filter((sentence) => /\d/.test(sentence))
  const telling = [...headings, ...numbered]
  const candidates = telling.length > 0 ? telling.slice(0, MAX_LOOKED_AT) : sentences.slice(0, 3)
  const fresh = candidates.filter((point) => !seen.some((line) => line.includes(point)))
  const points = [...new Set(fresh)].slice(0, MAX_POINTS)
  seen.push(...points)
  const [only] = points
  if (only === undefined) return []
  return points.length === 1 ? [{ line: `${name}: ${only}`, points: [] }] : [{ line: `From ${name}:`, points }]
}

/** The parts of a sentence that lists several things to do; none when it says one thing. */
function clausesOf(sentence: string): readonly string[] {
  const body = sentence.slice(sentence.indexOf(': ') + 1).replace(/[.!?]+$/, '')
  const clauses = body
    .split(/;\s*|,\s+(?:and\s+|then\s+)?|\s+and\s+(?=\w+\s+\w+)|\s+then\s+/)
    .map((clause) => clause.trim())
  return clauses.length > 1 && clauses.every((clause) => clause.split(/\s+/).length > 1) ? clauses : []
}

/**
 * Model `table`: statistics, in words, of the first input that is a table: JSON rows, or CSV text of at least two
 * columns. As a value: the statistics themselves (shared/table/statistics.ts).
 */
export const table: Tool = ({ inputs }) => {
  for (const value of Object.values(inputs)) {
    const found = tableIn(value)
    const stats = found === undefined ? undefined : tableStatistics(found)
    if (stats === undefined || 'problem' in stats) continue
    // Plain JSON by construction; interfaces have no index signature for TypeScript to see it.
    return { text: tableSentences(stats), value: stats as unknown as Json, bullet: '', reserve: [] }
  }
  const names = Object.keys(inputs).join(', ') || 'none'
  return {
    problem: `none of its inputs (${names}) is a table. Wire JSON rows or CSV text with a header line into one.`,
  }
}

function tableIn(value: Json): Table | undefined {
  const read = readTable(value)
  if ('problem' in read) return undefined
  return typeof value === 'string' && read.columns.size < 2 ? undefined : read
}
