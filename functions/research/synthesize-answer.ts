import { ENTITY_LIMITS } from '../../shared/graph/entity.ts'
import type { Triple } from '../../shared/graph/triple.ts'
import { JUDGE_SYSTEM, judgePrompt, SYNTHESIS_SYSTEM, synthesisPrompt } from '../../shared/prompts/research.ts'
import { type ChainState, candidatesAsEvidence, toDecompTrace } from '../../shared/research/chain-state.ts'
import { checkSynthesis } from '../../shared/research/claims/check-synthesis.ts'
import {
  asMayAnswer,
  degradedResult,
  howItAnswers,
  NOT_JUDGED,
  noAnswerText,
  ONLY_IN_PART,
  ONLY_MAY_ANSWER,
  withoutWordsOfSets,
} from '../../shared/research/claims/claim-lines.ts'
import { repairSynthesis, synthesisErrors } from '../../shared/research/claims/repair-synthesis.ts'
import { citableText } from '../../shared/research/claims/shown-evidence.ts'
import { asEvidence, trimEvidence } from '../../shared/research/evidence-ranking.ts'
import type { AskedOfGraph } from '../../shared/research/extractive/model.ts'
import { loopEntityId, RESEARCH_PREDICATES } from '../../shared/research/loop-entity.ts'
import type { Evidence } from '../../shared/research/payloads/candidate-and-evidence.ts'
import type { SaidSentence, SearchResult } from '../../shared/research/payloads/result.ts'
import { evidenceForPrompt } from '../../shared/research/prompt-budget.ts'
import { readJudgeAnswer, readSynthesisAnswer } from '../../shared/research/read-answers.ts'
import { canonicalJson, type Json } from '../../shared/text/json.ts'
import { askEvidence, askModel, type Reading, toReading } from './ask-model.ts'
import { readAskedOfGraph, withNamedThings } from './read-things.ts'
import { type StoredEvidence, showEvidence } from './show-evidence.ts'
import {
  NO_TIME,
  type StageAnswer,
  type StageCall,
  type StageOutcome,
  timeLeft,
  tokensLeft,
  tokensUsed,
} from './stage-call.ts'
import { stageHandler } from './stage-handler.ts'
import { readChain } from './stored-chain.ts'

/**
 * Writes what models said to the loop entity: the router's reasons, and where the synthesis is. They are opaque: no rule
 * reads them. The events are what counts, so a graph that is away does not keep the answer back.
 */
async function tellLoop({ world, run }: StageCall, { ref }: StageAnswer): Promise<void> {
  const { tenant, run_id } = run
  const triples = loopTriples(loopEntityId(tenant, run_id), await readChain(world, tenant, ref), ref)
  const untold = (error: string) => world.log.error('a loop entity was not told of its answer', { run_id, error })
  try {
    const outcomes = await world.graph.addTriples(tenant, triples)
    const failed = outcomes.find((told) => told.outcome === 'failed')
    if (failed !== undefined) untold(failed.message)
  } catch (error) {
    untold(String(error))
  }
}

function loopTriples(subject: string, { stages }: ChainState, ref: string): readonly Triple[] {
  const common = { subject, confidence: 1, rule_opaque: true }
  return stages.flatMap(({ stage, at: timestamp, rationale }): readonly Triple[] => {
    if (stage === 'synthesize_answer') {
      return [{ ...common, predicate: RESEARCH_PREDICATES.synthesis, object: ref, source: stage, timestamp }]
    }
    if (stage !== 'route_search' || rationale === undefined || rationale.trim() === '') return []
    const object = rationale.slice(0, ENTITY_LIMITS.object_characters).toWellFormed()
    return [{ ...common, predicate: RESEARCH_PREDICATES.route_rationale, object, source: stage, timestamp }]
  })
}

/** The terminal result, whatever came before: an answer that cites its evidence, or one that says why there is none. */
export const handler = stageHandler('synthesize_answer', synthesize, tellLoop)

async function synthesize(call: StageCall): Promise<StageOutcome> {
  const { state, failed, plain } = call
  const failure = failed == null ? undefined : `${failed.stage} failed: ${failed.error}`
  const why = failure ?? (timeLeft(call) <= 0 ? NO_TIME : undefined)
  const isPlain = plain || why !== undefined || state.plain === true
  const { topic } = state.intent
  const known = isPlain ? {} : await readAskedOfGraph(call)
  const shown = await showForAnswer(call, withNamedThings(topic, evidenceOf(state), known), isPlain)
  const evidence = shown.map(asEvidence)
  const composed: ComposedAnswer = isPlain || evidence.length === 0 ? {} : await composeAnswer(call, shown, known)
  const less = LESS_THAN_AN_ANSWER[howItAnswers(topic, composed.synthesis ?? '')]
  const degraded = [...state.degraded, why, composed.skipped, less].filter((reason) => reason !== undefined)
  const result = resultOf(call, { evidence, degraded: [...new Set(degraded)], composed })
  return {
    change: { evidence, result, ...(composed.sources_ref === undefined ? {} : { sources_ref: composed.sources_ref }) },
    next: 'settle',
    degraded: [why, composed.skipped, less, composed.repaired, composed.unjudged],
    said: { found: evidence.length, ...(composed.judged === undefined ? {} : { judged: composed.judged }) },
  }
}

/** Why an answer is less than it could be, by how it answers. */
const LESS_THAN_AN_ANSWER = { yes: undefined, part: ONLY_IN_PART, maybe: ONLY_MAY_ANSWER, no: undefined } as const

/** The evidence as it is stored; where no model answers any more, a graph that is away does not keep what was found back. */
async function showForAnswer(
  { world, run, state }: StageCall,
  evidence: readonly Evidence[],
  isPlain: boolean,
): Promise<readonly StoredEvidence[]> {
  try {
    return await showEvidence(world, run.tenant, evidence, state.intent.topic)
  } catch (error) {
    if (!isPlain) throw error
    world.log.error('evidence is shown as it was found', { run_id: run.run_id, error: String(error) })
    return evidence
  }
}

/** Where no sub-query ran, the candidates are what there is. */
function evidenceOf({ evidence, classified, sub_queries, intent }: ChainState): ChainState['evidence'] {
  if (evidence.length > 0 || sub_queries.length > 0) return evidence
  return [...trimEvidence(candidatesAsEvidence(classified?.candidates ?? []), intent.budget_tokens).evidence]
}

interface Ending {
  readonly evidence: ChainState['evidence']
  readonly degraded: readonly string[]
  readonly composed: ComposedAnswer
}

function resultOf(call: StageCall, { evidence, degraded, composed }: Ending): SearchResult {
  const { state } = call
  const { synthesis, sentences = [] } = composed
  const { first_action, sub_queries, seed_entities, counters, intent } = state
  const { retighten_rounds, iterations } = counters
  const trace = toDecompTrace({ ...(first_action && { first_action }), sub_queries, seed_entities, retighten_rounds })
  const counted = { tokens_used: tokensUsed(call), iterations }
  const reason = degraded.join('; ')
  if (synthesis === undefined && (evidence.length > 0 || reason !== '')) {
    return degradedResult({ topic: intent.topic, reason, evidence, trace: trace ?? {}, ...counted })
  }
  const answer = synthesis ?? noAnswerText(intent.topic)
  return {
    evidence,
    synthesis: reason === '' ? answer : `${answer}\nDegraded: ${reason}.`,
    answers: howItAnswers(intent.topic, answer),
    ...(sentences.length === 0 ? {} : { sentences: [...sentences] }),
    ...(trace === undefined ? {} : { decomp_trace: trace }),
    ...counted,
  }
}

/** An answer as it may be published, or why there is none. */
interface ComposedAnswer {
  readonly synthesis?: string
  readonly sentences?: readonly SaidSentence[]
  readonly sources_ref?: string
  readonly skipped?: string
  /** What had to be taken out of it: the answer itself says so. */
  readonly repaired?: string
  readonly judged?: Judgement['judged']
  /** Why the judge of the settings did not look at it. */
  readonly unjudged?: string
}

/**
 * The model's answer, every sentence of it held against the stored bodies. What does not hold is asked for once more,
 * then taken out; what a judge doubts beside that, too.
 */
async function composeAnswer(
  call: StageCall,
  shown: readonly StoredEvidence[],
  known: AskedOfGraph,
): Promise<ComposedAnswer> {
  const { topic, keep_unsupported } = call.state.intent
  const isExtractive = call.world.settings.research.provider === 'extractive'
  const asked = await askEvidence(call, shown, {
    stage: 'synthesize_answer',
    system: SYNTHESIS_SYSTEM,
    output_schema: SYNTHESIS_OUTPUT,
    known,
    prompt: synthesisPrompt,
    read: (text) => checked(topic, isExtractive ? text : withoutWordsOfSets(text), shown),
  })
  const { ref: sources_ref } = await call.world.objects.put(call.run.tenant, Buffer.from(sourcesOf(shown)))
  if (asked.kind !== 'answered') return { sources_ref, skipped: `no answer was written: ${asked.why}` }
  const byRules = repairSynthesis(topic, asked.value, shown, { keep_unsupported })
  const judgement = await judgeAnswer(call, shown, byRules.sentences)
  const doubts = judgement?.doubts ?? new Map()
  const repaired =
    doubts.size === 0 ? byRules : repairSynthesis(topic, asked.value, shown, { keep_unsupported, doubts })
  const { sentences, degraded_reason } = repaired
  // What was chosen to answer together does not answer in part.
  const isPart = isExtractive && degraded_reason !== undefined
  const synthesis = isPart ? asMayAnswer(topic, repaired.synthesis) : repaired.synthesis
  const { judged, skipped } = judgement ?? {}
  return {
    synthesis: skipped === undefined ? synthesis : `${synthesis}\n${NOT_JUDGED}`,
    sentences,
    sources_ref,
    ...(degraded_reason === undefined ? {} : { repaired: degraded_reason }),
    ...(judged === undefined ? {} : { judged }),
    ...(skipped === undefined ? {} : { unjudged: skipped }),
  }
}

function sourcesOf(shown: readonly StoredEvidence[]): string {
  return canonicalJson(shown.map((item, place) => ({ id: `${place + 1}`, text: citableText(item) })))
}

function checked(topic: string, text: string, shown: readonly StoredEvidence[]): Reading<string> {
  const read = toReading(readSynthesisAnswer(text))
  if (read.value === undefined) return read
  return { value: read.value, errors: synthesisErrors(checkSynthesis(topic, read.value, shown)) }
}

const SYNTHESIS_OUTPUT = {
  // Of any type, so that it is asked for as a member of an object, not as a free text.
  synthesis: { type: 'json', required: true, description: 'the answer, a text' },
} as const

/** What the judge of the settings says of an answer; undefined = there is none, or there is nothing to judge. */
interface Judgement {
  /** Why, by the text of the sentence. */
  readonly doubts: ReadonlyMap<string, string>
  /** Absent where it could not look. */
  readonly judged?: { readonly sentences: number; readonly doubted: number }
  /** Why it could not, as the middle of a sentence. */
  readonly skipped?: string
}

/** Tokens of evidence a judge is shown at the most, and at the least. */
const MOST_EVIDENCE = 8_000
const LEAST_EVIDENCE = 50
/** Sentences of one answer it is asked about; the rest stands. */
const MOST_SENTENCES = 100

/**
 * Asks the judge about the sentences that are quoted or supported: it may doubt them and nothing else. It is reserved and
 * counted like every call; where it fails, or where no budget is left, the answer stands as it is.
 */
async function judgeAnswer(
  call: StageCall,
  shown: readonly StoredEvidence[],
  said: readonly SaidSentence[],
): Promise<Judgement | undefined> {
  const { judge } = call.world.settings.research
  const sentences = said.filter(({ status }) => status !== 'unsupported').slice(0, MOST_SENTENCES)
  if (judge === undefined || sentences.length === 0) return undefined
  const { provider, model, max_tokens, params } = judge
  const fixed = Math.ceil((JUDGE_SYSTEM.length + judgePrompt([], sentences).length) / 4)
  // Half of what is left, so that it can be asked once more.
  const room = Math.floor(tokensLeft(call) / 2) - fixed - max_tokens
  const evidence = evidenceForPrompt(shown, Math.min(MOST_EVIDENCE, Math.max(LEAST_EVIDENCE, room)))
  const asked = await askModel(call, {
    system: JUDGE_SYSTEM,
    prompt: judgePrompt(evidence, sentences),
    inputs: { sentences: sentences.map(({ sentence }): Json => sentence) },
    output_schema: JUDGE_OUTPUT,
    answer_tokens: max_tokens,
    keep: 0,
    by: { provider, model, params, name: 'judge' },
    read: (text) => toReading(readJudgeAnswer(text, sentences.length)),
  })
  if (asked.kind !== 'answered') return { doubts: new Map(), skipped: `the judge did not look at it: ${asked.why}` }
  const doubts = [...asked.value].flatMap(([nth, why]): [string, string][] => {
    const sentence = sentences[nth - 1]?.sentence
    return sentence === undefined ? [] : [[sentence, `the judge doubts it: ${why}`]]
  })
  return { doubts: new Map(doubts), judged: { sentences: sentences.length, doubted: doubts.length } }
}

const JUDGE_OUTPUT = {
  doubts: { type: 'json', required: true, description: 'the sentences it doubts' },
} as const
