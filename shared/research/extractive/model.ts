import * as z from 'zod'
import { sentencesIn } from '../../text/prose.ts'
import { EXTRACTIVE_NOTE, MORE_MAY_FIT, noAnswerText } from '../claims/claim-lines.ts'
import { plainName, type ShownEvidence } from '../claims/shown-evidence.ts'
import { type Candidate, CandidateSchema } from '../payloads/candidate-and-evidence.ts'
import { type Decoded, decodePayload } from '../payloads/codec.ts'
import type { RouteDecision } from '../payloads/route-decision.ts'
import type { AssessmentOutput } from '../payloads/stage-outputs.ts'
import { isNamedIn } from '../question/label-mentions.ts'
import { type Hints, readSearchHints } from '../question/search-hints.ts'
import { contentTerms, wordsWithTerms } from '../question/terms.ts'
import { compareFacts } from './compare-facts.ts'
import { type Coverage, coverQuestion } from './coverage.ts'
import { type EvidenceUnit, evidenceUnits } from './evidence-units.ts'
import { thingsInRange } from './things-in-range.ts'

const topic = z.string()
const FactSchema = z.object({ predicate: z.string(), object: z.string(), object_id: z.string().optional() })
const ShownEvidenceSchema = z.object({
  entity_id: z.string(),
  label: z.string().optional(),
  source: z.string().optional(),
  text: z.string().optional(),
  facts: z.array(FactSchema).optional(),
  geo: z.object({ lat: z.number(), lon: z.number() }).optional(),
})
const evidence = z.array(ShownEvidenceSchema)

const RouteQuestionSchema = z.object({
  topic,
  hints: z.record(z.string(), z.unknown()),
  candidates: z.array(CandidateSchema),
  degraded: z.boolean(),
  retighten_rounds: z.int(),
})
const EvidenceQuestionSchema = z.object({ topic, evidence })

/** The stages that ask a model. */
export type AskingStage = keyof typeof ANSWERS

/**
 * The extractive model: what a stage asks, as data beside the prompt (the inputs of its dispatch), to the JSON text a
 * language model would answer. Deterministic; it reads no prompt and obeys no text.
 */
export function runExtractiveModel(stage: AskingStage, inputs: unknown): Decoded<string> {
  const answer = ANSWERS[stage](inputs)
  return answer.ok ? { ok: true, value: JSON.stringify(answer.value) } : answer
}

const ANSWERS = {
  route_search: (inputs: unknown) => answered(RouteQuestionSchema, inputs, extractiveRoute),
  assess_sufficiency: (inputs: unknown) =>
    answered(EvidenceQuestionSchema, inputs, (asked) => extractiveAssess(asked.topic, asked.evidence)),
  synthesize_answer: (inputs: unknown) =>
    answered(EvidenceQuestionSchema, inputs, (asked) => ({ synthesis: extractiveAnswer(asked.topic, asked.evidence) })),
} as const

function answered<T>(schema: z.ZodType<T>, inputs: unknown, answer: (asked: T) => unknown): Decoded<unknown> {
  const asked = decodePayload(schema, inputs)
  return asked.ok ? { ok: true, value: answer(asked.value) } : asked
}

/**
 * An answer of quoted sentences and facts, each with the number of its evidence. Where they do not say what is asked,
 * it is no answer and names the words nothing says.
 */
export function extractiveAnswer(topic: string, evidence: readonly ShownEvidence[]): string {
  const coverage = coverQuestion(topic, evidence)
  if (coverage.covered) {
    const compared = compareFacts(topic, evidence)
    const found = thingsInRange(topic, evidence)
    const said = found.isAll ? [] : unitsToSay(coverage, evidence).map(unitLine)
    const lines = compared === undefined ? said : [compared]
    const more = (coverage.things ?? 0) > 1 ? [MORE_MAY_FIT] : []
    return [...lines, ...namesLine(found.places, evidence), ...more, EXTRACTIVE_NOTE].join('\n')
  }
  const lacking = wordsWithTerms(topic, coverage.missing)
  const told = lacking.length === 0 ? [] : [`Note: no evidence linked to the question says: ${lacking.join(', ')}.`]
  return [noAnswerText(topic), ...told, EXTRACTIVE_NOTE].join('\n')
}

/** A question that is a name alone asks what is known: more of the item it chose. */
function unitsToSay({ units, relation }: Coverage, evidence: readonly ShownEvidence[]): readonly EvidenceUnit[] {
  if (relation.length > 0) return units
  const of = new Set(units.map(({ n }) => n))
  const known = evidenceUnits(evidence).filter(({ n }) => of.has(n))
  return known.toSorted((a, b) => Number(a.kind === 'fact') - Number(b.kind === 'fact')).slice(0, SAID_OF_A_NAME)
}

const SAID_OF_A_NAME = 4

/** What a box or a time range found is itself an answer: its items by name. */
function namesLine(places: readonly number[], evidence: readonly ShownEvidence[]): readonly string[] {
  const found = places.flatMap((place) => {
    const item = evidence[place - 1]
    return item === undefined ? [] : [`${plainName(item.label ?? item.entity_id)} [${place}]`]
  })
  return found.length === 0 ? [] : [`${oneSentence(`Found there: ${found.slice(0, NAMES_LISTED).join(', ')}`)}.`]
}

const NAMES_LISTED = 20

/** A sentence stands in quotation marks, since it is one; marks of its own do not end it. */
function unitLine({ kind, text, n }: EvidenceUnit): string {
  return kind === 'fact' ? `${oneSentence(text)} [${n}].` : `“${text.replace(/[“”]/g, '"')}” [${n}]`
}

/** A name may end a sentence in its middle; then the rest of the line would cite nothing: `Washington DC`, `St Peter Port`. */
function oneSentence(text: string): string {
  if (sentencesIn(`${text} X`).length < 2) return text
  return text.replace(/(?<=(?<![\p{L}\p{N}])\p{Lu}\p{Ll}?)\.(?!\p{N})/gu, '').replace(/[!?…。！？]|\.(?!\p{N})/gu, ';')
}

/** Whether the evidence covers the question's terms and the relation asked for. Deterministic; it obeys no text. */
export function extractiveAssess(topic: string, evidence: readonly ShownEvidence[]): AssessmentOutput {
  const coverage = coverQuestion(topic, evidence)
  const { covered, units, missing, share } = coverage
  const by = units.length === 0 ? 'what was found' : `${units.length} of the sentences and facts`
  const rationale = covered
    ? `The question is covered by ${by}.`
    : `Nothing linked to the question says: ${wordsWithTerms(topic, missing).join(', ') || 'anything'}.`
  return {
    topic,
    sufficient: covered,
    ...(covered ? {} : { refined_queries: refine(topic, evidence, coverage) }),
    rationale,
    confidence: Math.round(share * 1_000) / 1_000,
    evidence_count: evidence.length,
  }
}

/** What is missing, with the names it may be said of: those the question leads to, else its own. */
function refine(topic: string, evidence: readonly ShownEvidence[], { missing, unseen = [] }: Coverage): string[] {
  const lacking = wordsWithTerms(topic, missing).join(' ')
  const named = evidence.flatMap(({ label = '' }) => (isNamedIn(topic, label) ? [label] : []))
  const labels = unseen.length > 0 ? unseen : named
  const queries = [...new Set(labels)].slice(0, MAX_NAMES).map((label) => `${label} ${lacking}`.trim())
  return [...new Set(queries.length > 0 ? queries : [lacking || topic])]
}

const MAX_NAMES = 3

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
  const terms = [...new Set(contentTerms(topic))]
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
  return new Set(contentTerms(`${label} ${type}`))
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
    isNamedIn(topic, label) ? [{ ref: `${index}`, ref_type: 'candidate_index' }] : [],
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
