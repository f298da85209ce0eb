import * as z from 'zod'
import { isStopWord } from '../../graph/search-words.ts'
import { firstJson } from '../../text/embedded-json.ts'
import { type Decoded, type PayloadKind, rangeErrors, readPayload } from '../payloads/codec.ts'
import { answerKindHints, readGeoBounds, readTimeRange, readZoneName } from './hint-patterns.ts'
import { type Hints, readSearchHints } from './search-hints.ts'
import { plainWords } from './terms.ts'

/**
 * A further tier: 1 lexical or embedding, 3 a model (off by default). It is asked where the keywords found nothing;
 * undefined = it has nothing to say either.
 */
export interface TopicClassifier {
  readonly tier: '1' | '3'
  classify(topic: string): Promise<Classification | undefined>
}

/**
 * The first tier that knows the topic: keywords, then the others in their order. A tier that fails is passed over and
 * degrades the output; where none matched it is tier 0 with confidence 0.
 */
export async function classifyTopic(
  topic: string,
  now: Date,
  further: readonly TopicClassifier[],
): Promise<Classification & { readonly degraded_reason?: string }> {
  const known = classifyByKeywords(topic, now)
  if (known !== undefined) return known
  const failed: string[] = []
  for (const { tier, classify } of further) {
    const found = await classify(topic).catch(() => {
      failed.push(tier)
      return undefined
    })
    if (found !== undefined) return withReason(found, failed)
  }
  return withReason({ tier: '0', intent: '', confidence: 0, hints: {} }, failed)
}

function withReason(classification: Classification, failed: readonly string[]) {
  if (failed.length === 0) return classification
  return { ...classification, degraded_reason: `classifier tier ${failed.join(', ')} failed` }
}

/** What a classifier makes of a topic: the fields of ClassifierOutput it decides. */
export interface Classification {
  readonly tier: '0' | '1' | '3'
  readonly intent: string
  readonly confidence: number
  readonly hints: Hints
}

/** Tier 0: keyword patterns. Confidence 1 and no intent where one matched; undefined where none did. */
export function classifyByKeywords(topic: string, now: Date): Classification | undefined {
  const looked = topic.slice(0, KEYWORD_CHARACTERS)
  const [time_range, geo_bounds, zone] = [readTimeRange(looked, now), readGeoBounds(looked), readZoneName(looked)]
  const hints: Hints = {
    ...(time_range === undefined ? {} : { time_range }),
    ...(geo_bounds === undefined ? {} : { geo_bounds }),
    ...(zone === undefined ? {} : { zone }),
    ...answerKindHints(looked),
  }
  return Object.keys(hints).length === 0 ? undefined : { tier: '0', intent: '', confidence: 1, hints }
}

/** Characters of a topic whose patterns are looked for: a question, not a document. */
const KEYWORD_CHARACTERS = 4_000

/** Questions as people put them, by what they are after; only their words of grammar count, the others stand for any. */
const FORMS: readonly (readonly [intent: string, question: string])[] = [
  ['attribute', 'what is the capital of Peru'],
  ['attribute', 'which currency does Peru have'],
  ['attribute', 'where is the head office of Acme'],
  ['attribute', 'when was the bridge of Lima built'],
  ['definition', 'what is a pump'],
  ['definition', 'who was Bolivar'],
  ['definition', 'tell me about Peru'],
  ['list', 'which are the neighbours of Peru'],
  ['list', 'what are all the sensors in Lima'],
  ['described', 'which country has a capital that is on the coast'],
  ['described', 'which is the country whose capital is Lima'],
  ['cause', 'why did the pump in Lima fail'],
  ['procedure', 'how do I reset a pump'],
]

/** Under this part of words of grammar in common two questions are not of one form. */
const ALIKE = 0.6

/**
 * Tier 1: what a question is after by its form, the words of grammar it shares with known questions (Jaccard).
 * Confidence is that part. It writes no hints: a form names nothing to filter by. undefined: it is like none of them.
 */
export function classifyByForm(topic: string): Classification | undefined {
  const asked = formOf(topic)
  let best: { readonly intent: string; readonly confidence: number } = { intent: '', confidence: 0 }
  for (const [intent, question] of FORMS) {
    const confidence = alike(asked, formOf(question))
    if (confidence > best.confidence) best = { intent, confidence }
  }
  return best.confidence < ALIKE ? undefined : { tier: '1', ...best, hints: {} }
}

/** Words of grammar, and of questions, each once. */
function formOf(text: string): ReadonlySet<string> {
  return new Set(plainWords(text.slice(0, FORM_CHARACTERS)).filter(isStopWord))
}

/** Of a topic: a question, not a document. */
const FORM_CHARACTERS = 1_000

function alike(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const common = [...a].filter((word) => b.has(word)).length
  return common === 0 ? 0 : Math.round((common / (a.size + b.size - common)) * 1_000) / 1_000
}

/** A model's classification (tier 3). Hints that are not of their form are left out, as a caller's are. */
export function readClassification(text: string): Decoded<Classification> {
  const read = readPayload(CLASSIFICATION_ANSWER, firstJson(text))
  if (!read.ok) return read
  const { intent, confidence, hints = {} } = read.value
  return { ok: true, value: { tier: '3', intent: intent.slice(0, 200), confidence, hints: readSearchHints(hints) } }
}

const AnswerSchema = z.object({
  intent: z.string(),
  confidence: z.number(),
  hints: z.record(z.string(), z.unknown()).optional(),
})

const CLASSIFICATION_ANSWER: PayloadKind<z.output<typeof AnswerSchema>> = {
  schema: AnswerSchema,
  validate: ({ confidence }) => rangeErrors('confidence', confidence, { most: 1 }),
}
