import * as z from 'zod'
import { sentencesOf, termsOf } from './sentences.ts'
import type { Task, Tool } from './tool.ts'

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
  return (said.length > 0 ? said : sentencesOf(prompt)).map((text, place) => ({
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
