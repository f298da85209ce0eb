import type { Candidate } from './candidate.ts'
import { namedIn } from './names-in-question.ts'
import { termsOf } from './question-terms.ts'
import type { RouteDecision } from './route-decision.ts'
import { type Hints, readSearchHints } from './search-hints.ts'

interface RouteQuestion {
  readonly topic: string
  readonly hints: Hints
  /** In the order their indexes count. */
  readonly candidates: readonly Candidate[]
  readonly degraded: boolean
  readonly retighten_rounds: number
}

/** Seeds of one walk. */
const MAX_SEEDS = 5
/** A best hit this many times the mean of the others stands out. */
const STANDS_OUT = 1.5

/**
 * The route by candidate statistics: labels, types, relevance and hints, never a snippet, so that no retrieved text can
 * change it. The cheapest that can cover the question: the candidates' labels say it all; the question names some of
 * them; else decompose. Retighten only for no hits or noise, once: a question cut to its terms twice is the same.
 */
export function extractiveRoute(question: RouteQuestion): RouteDecision {
  const { topic, candidates } = question
  const terms = [...new Set(termsOf(topic))]
  if (isNoise(terms, candidates)) return retighten(question, terms)
  const hints = readSearchHints(question.hints)
  const computes =
    hints.time_range ?? hints.geo_bounds ?? hints.aggregation_type ?? hints.path_intent ?? hints.similarity
  const whole = candidates.some((candidate) => terms.every((term) => wordsOf(candidate).has(term)))
  if (whole && computes === undefined && !question.degraded && terms.length > 0) {
    return {
      action: 'synthesize_directly',
      rationale: 'One candidate has every term of the question in its label or type.',
    }
  }
  const seeds = seedsOf(question)
  const isWalk = hints.time_range === undefined && hints.geo_bounds === undefined && seeds.length > 0
  return isWalk ? walk(seeds) : decompose(question)
}

function wordsOf({ label = '', type = '' }: Candidate): ReadonlySet<string> {
  return new Set(termsOf(`${label} ${type}`))
}

/** No candidate has a term of the question in its label or type, and none stands out by relevance. */
function isNoise(terms: readonly string[], candidates: readonly Candidate[]): boolean {
  if (candidates.some((candidate) => terms.some((term) => wordsOf(candidate).has(term)))) return false
  const [best = 0, ...others] = candidates.map(({ relevance = 0 }) => relevance).sort((a, b) => b - a)
  const mean = others.reduce((sum, relevance) => sum + relevance, 0) / Math.max(1, others.length)
  return best <= 0 || best < STANDS_OUT * mean
}

function retighten(question: RouteQuestion, terms: readonly string[]): RouteDecision {
  const topic = terms.join(' ')
  if (question.retighten_rounds > 0 || topic === '' || topic === question.topic) return decompose(question)
  const rationale = question.candidates.length === 0 ? 'There are no candidates.' : 'The candidates are noise.'
  return { action: 'retighten', args: { topic }, rationale: `${rationale} The question is cut to its terms.` }
}

function seedsOf({ topic, hints, candidates }: RouteQuestion) {
  const named = candidates.flatMap(({ label }, index) =>
    namedIn(topic, label) ? [{ ref: `${index}`, ref_type: 'candidate_index' }] : [],
  )
  const start = readSearchHints(hints).path_start_node
  const from = named.length === 0 && start !== undefined ? [{ ref: start, ref_type: 'name' }] : []
  return [...named, ...from].slice(0, MAX_SEEDS)
}

function walk(seeds: readonly object[]): RouteDecision {
  const rationale = `The question names ${seeds.length} of the candidates and asks for more than their labels say.`
  return { action: 'walk_seeds', args: { seeds }, rationale }
}

function decompose({ topic, hints }: RouteQuestion): RouteDecision {
  const { time_range, geo_bounds, path_intent, similarity, top_n = 0 } = readSearchHints(hints)
  const axes = [
    'entity_type',
    ...(time_range === undefined ? [] : ['time']),
    ...(geo_bounds === undefined ? [] : ['spatial']),
    ...(path_intent === undefined && similarity === undefined ? [] : ['relationship']),
  ]
  const scope = top_n > 8 ? 'broad' : 'medium'
  return { action: 'decompose', args: { axes, focus: topic, scope }, rationale: 'No candidate covers the question.' }
}
