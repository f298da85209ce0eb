import * as z from 'zod'
import {
  EXTRACTIVE_NOTE,
  MAY_ANSWER,
  MORE_MAY_FIT,
  NOT_AMONG,
  noAnswerText,
  partNote,
  refusalNote,
  type WhyRefused,
} from '../claims/claim-lines.ts'
import { MAX_OBJECTS, oneSentence, plainName, type ShownEvidence } from '../claims/shown-evidence.ts'
import { type Candidate, CandidateSchema } from '../payloads/candidate-and-evidence.ts'
import { type Decoded, decodePayload } from '../payloads/codec.ts'
import type { RouteDecision } from '../payloads/route-decision.ts'
import type { AssessmentOutput } from '../payloads/stage-outputs.ts'
import { isNamedIn } from '../question/label-mentions.ts'
import { type Hints, readSearchHints } from '../question/search-hints.ts'
import { contentTerms, wordsWithTerms } from '../question/terms.ts'
import type { RelationName } from './asked-words.ts'
import { type Coverage, passagesThatMayAnswer } from './coverage.ts'
import { type EvidenceUnit, evidenceUnits } from './evidence-units.ts'
import { namesSaid, readQuestionForm } from './question-form.ts'
import { type CoveredPart, coverQuestion } from './question-parts.ts'
import { setAnswerLines, solveSetQuestion } from './set-answer.ts'
import { predicateText, singularsOf, type ThingSet } from './thing-set.ts'
import { thingsInRange } from './things-in-range.ts'

const topic = z.string()
const FactSchema = z.object({ predicate: z.string(), object: z.string(), object_id: z.string().optional() })
const ShownEvidenceSchema = z.object({
  entity_id: z.string(),
  label: z.string().optional(),
  aliases: z.array(z.string()).optional(),
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
const ThingSchema = ShownEvidenceSchema.extend({ type: z.string().optional() })
/** All things of a type, where the question asks something of them as a whole. */
const ThingSetSchema = z.object({
  type: z.string(),
  word: z.string(),
  members: z.array(ThingSchema),
  closed: z.boolean(),
  around: z.array(z.string()),
  named: z.array(ThingSchema),
  linked: z.array(ThingSchema).optional(),
})
const EvidenceQuestionSchema = z.object({
  topic,
  evidence,
  set: ThingSetSchema.optional(),
  spelt: z.string().optional(),
  words: z.array(z.object({ word: z.string(), predicate: z.string() })).optional(),
})

/** What the graph knows of a question's words, besides the evidence. */
export interface AskedOfGraph {
  /** All things of a type, where the question asks something of them as a whole. */
  readonly set?: ThingSet | undefined
  /** The question with the names that were looked for instead of words nothing has. */
  readonly spelt?: string | undefined
  /** Words somebody put for relations. */
  readonly words?: readonly RelationName[] | undefined
}

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
    answered(EvidenceQuestionSchema, inputs, (asked) => extractiveAssess(asked.topic, asked.evidence, asked)),
  synthesize_answer: (inputs: unknown) =>
    answered(EvidenceQuestionSchema, inputs, (asked) => ({
      synthesis: extractiveAnswer(asked.topic, asked.evidence, asked),
    })),
} as const

function answered<T>(schema: z.ZodType<T>, inputs: unknown, answer: (asked: T) => unknown): Decoded<unknown> {
  const asked = decodePayload(schema, inputs)
  return asked.ok ? { ok: true, value: answer(asked.value) } : asked
}

/**
 * An answer of quoted sentences and facts, each with the number of its evidence. Where they do not say what is asked,
 * it is no answer and names the words nothing says.
 */
export function extractiveAnswer(topic: string, evidence: readonly ShownEvidence[], known: AskedOfGraph = {}): string {
  const ofSet = answerFromSet(topic, evidence, known)
  if (ofSet !== undefined) return [...ofSet.lines, EXTRACTIVE_NOTE].join('\n')
  const { spelt = topic, words } = known
  const coverage = coverQuestion(spelt, evidence, words)
  const lines =
    coverage.parts !== undefined
      ? coverage.parts.flatMap((part) => partLines(part, evidence))
      : coverage.covered
        ? coveredLines(spelt, evidence, coverage)
        : [noAnswerText(topic), ...uncoveredLines(topic, evidence, { ...coverage, spelt })]
  return [...new Set(lines), EXTRACTIVE_NOTE].join('\n')
}

/** What answers one of several questions, or which one is not answered. */
function partLines({ written, topic, coverage }: CoveredPart, evidence: readonly ShownEvidence[]): readonly string[] {
  return coverage.covered ? coveredLines(topic, evidence, coverage) : [partNote(written)]
}

function coveredLines(topic: string, evidence: readonly ShownEvidence[], coverage: Coverage): readonly string[] {
  const found = thingsInRange(topic, evidence)
  const isCount = readQuestionForm(topic).kind === 'count'
  const said = found.isAll ? [] : unitsToSay(topic, coverage, evidence).map((unit) => unitLine(unit, isCount))
  const unnamed = found.isAll ? [] : namesBehindPronouns(topic, coverage, evidence)
  const lines = coverage.compared === undefined ? [...unnamed, ...said] : [coverage.compared]
  const other = coverage.isOther === true ? [NOT_AMONG] : []
  const isSome =
    unnamed.length > 0 ||
    (coverage.things ?? 0) > 1 ||
    coverage.alike !== undefined ||
    isOneOfSeveral(topic, coverage, evidence)
  const more = isSome ? [MORE_MAY_FIT] : []
  return [...lines, ...namesLine(found.places, evidence), ...other, ...more]
}

/** `Which museum is closed on Sundays?` is not answered by `It is closed on Sundays.` without the name of what is. */
function namesBehindPronouns(
  topic: string,
  { units }: Coverage,
  evidence: readonly ShownEvidence[],
): readonly string[] {
  const [, noun = ''] = /^(?:which|what) (\p{L}+)/iu.exec(topic) ?? []
  const [unit, ...others] = units
  if (unit?.kind !== 'sentence' || others.length > 0 || !/^(?:It|They|He|She)\b/.test(unit.text)) return []
  const { label = '', entity_id = '' } = evidence[unit.n - 1] ?? {}
  const type = entity_id.split('.')[4] ?? ''
  if (label === '' || isNamedIn(topic, label) || !singularsOf(noun.toLowerCase()).includes(type)) return []
  return [`1 ${type.replace(/[_-]+/g, ' ')}: ${plainName(label)} [${unit.n}].`]
}

/** `Which orchids are rare?` asks for all of them: one that was found and not named is one of them. */
function isOneOfSeveral(topic: string, { units, compared }: Coverage, evidence: readonly ShownEvidence[]): boolean {
  const [, noun = ''] = /\b(?:which|what) (\p{L}+)/iu.exec(topic) ?? []
  const isPlural = contentTerms(noun).length > 0 && singularsOf(noun.toLowerCase()).length > 1
  const isFound = units.every(({ kind, n }) => kind === 'fact' && !isNamedIn(topic, evidence[n - 1]?.label))
  return isPlural && isFound && compared === undefined && units.length > 0
}

/** Why there is no answer, and what may be one. */
function uncoveredLines(
  topic: string,
  evidence: readonly ShownEvidence[],
  coverage: Coverage & { readonly spelt: string },
): readonly string[] {
  const { refused } = coverage
  // A name that something says is not missing, whatever is not said of it.
  const units = evidenceUnits(evidence)
  const names = new Set(namesSaid(coverage.spelt.replace(/^\S+ /, '')).flatMap(contentTerms))
  const missing = coverage.missing.filter((term) => !names.has(term) || !units.some(({ terms }) => terms.has(term)))
  const lacking = wordsWithTerms(topic, missing)
  const told = lacking.length === 0 ? [] : [`Note: no evidence linked to the question says: ${lacking.join(', ')}.`]
  const why = refused === undefined ? [] : [refusalNote(refused)]
  if (refused !== undefined && !MAY_SHOW.has(refused)) return [...told, ...why]
  const may = passagesThatMayAnswer(coverage.spelt, evidence, { ...coverage, missing })
  return may.length === 0 ? [...told, ...why] : [...told, ...why, MAY_ANSWER, ...may.map((unit) => unitLine(unit))]
}

/** Where one passage is no answer for such a reason, another may be one. */
const MAY_SHOW: ReadonlySet<WhyRefused> = new Set<WhyRefused>(['reserved', 'other_way', 'other_kind'])

/** What is asked of a whole set: its answer, or no answer and why. */
function answerFromSet(topic: string, evidence: readonly ShownEvidence[], { set, spelt = topic, words }: AskedOfGraph) {
  const solved = set === undefined ? undefined : solveSetQuestion(spelt, set, words)
  if (set === undefined || solved === undefined) return undefined
  if ('answer' in solved) {
    const lines = setAnswerLines(solved.answer, evidence)
    return lines === undefined ? undefined : { covered: true, lines }
  }
  return { covered: false, lines: [noAnswerText(topic), refusalNote(solved.refused)] }
}

/** A question that is a name alone asks what is known: more of the item it chose. */
function unitsToSay(
  topic: string,
  { units, relation }: Coverage,
  evidence: readonly ShownEvidence[],
): readonly EvidenceUnit[] {
  if (relation.length > 0) return units
  const of = new Set(units.map(({ n }) => n))
  const isAsked = readQuestionForm(topic).kind !== undefined
  // Who it is, or when: the sentence that was chosen says it, others of that text something else.
  const said = new Set(units.map(({ text }) => text))
  const known = evidenceUnits(evidence).filter(
    ({ n, kind, text }) => of.has(n) && (!isAsked || kind === 'fact' || said.has(text)),
  )
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
function unitLine({ kind, text, n, predicate = '', objects = 0 }: EvidenceUnit, isCount = false): string {
  if (kind === 'fact' && isCount && objects > 1 && objects < MAX_OBJECTS) {
    const said = predicateText(predicate)
    return `${oneSentence(text.replace(`, ${said}: `, () => `, ${said}, ${objects} in all: `))} [${n}].`
  }
  return kind === 'fact' ? `${oneSentence(text)} [${n}].` : `“${text.replace(/[“”]/g, '"')}” [${n}]`
}

/** Whether the evidence covers the question's terms and the relation asked for. Deterministic; it obeys no text. */
export function extractiveAssess(
  topic: string,
  evidence: readonly ShownEvidence[],
  known: AskedOfGraph = {},
): AssessmentOutput {
  const ofSet = answerFromSet(topic, evidence, known)
  const { spelt = topic, words } = known
  if (ofSet !== undefined) return assessSet(topic, evidence, ofSet.covered)
  const coverage = coverQuestion(spelt, evidence, words)
  const { covered, units, missing, share, refused } = coverage
  const by = units.length === 0 ? 'what was found' : `${units.length} of the sentences and facts`
  const rationale = covered
    ? `The question is covered by ${by}.`
    : refused === undefined
      ? `Nothing linked to the question says: ${wordsWithTerms(topic, missing).join(', ') || 'anything'}.`
      : refusalNote(refused)
  return {
    topic,
    sufficient: covered,
    ...(covered ? {} : { refined_queries: refine(spelt, evidence, coverage) }),
    rationale,
    confidence: Math.round(share * 1_000) / 1_000,
    evidence_count: evidence.length,
  }
}

function assessSet(topic: string, evidence: readonly ShownEvidence[], covered: boolean): AssessmentOutput {
  return {
    topic,
    sufficient: covered,
    // The same again finds the same: a whole set was read.
    ...(covered ? {} : { refined_queries: [topic] }),
    rationale: covered
      ? 'All things of the type were looked at.'
      : 'The set of all things of the type does not say it.',
    confidence: covered ? 1 : 0,
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
