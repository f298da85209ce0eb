import type { ShownEvidence } from '../claims/shown-evidence.ts'
import { namesIn } from '../question/label-mentions.ts'
import { contentTerms, plainWords } from '../question/terms.ts'
import type { RelationName } from './asked-words.ts'
import { type Coverage, coverOne } from './coverage.ts'

/** One of the questions somebody asks in one sentence. */
export interface AskedPart {
  /** As it was written. */
  readonly written: string
  /**
   * With names for its pronouns, one for each thing they may mean: none where nobody knows whom they mean. Of a part that
   * names what it asks about, itself.
   */
  readonly readings: readonly string[]
}

/** What the evidence says to each of them. */
export interface CoveredPart {
  readonly written: string
  readonly topic: string
  readonly coverage: Coverage
}

/**
 * What the evidence says to a question: to each of its parts where it has several (`What is the capital of Nepal, and is
 * it landlocked?`), or to all of it.
 */
export function coverQuestion(
  topic: string,
  evidence: readonly ShownEvidence[],
  words: readonly RelationName[] = [],
): Coverage & { readonly parts?: readonly CoveredPart[] } {
  const [first, ...others] = cutIntoParts(topic)
  if (first === undefined || others.length === 0) return coverOne(topic, evidence, words)
  const cover = (part: string) => coverOne(part, evidence, words)
  const parts: CoveredPart[] = [{ written: first, topic: first, coverage: cover(first) }]
  for (const written of others) {
    const readings = readPart(written, parts[0], evidence).readings
    const read = readings.map((reading) => ({ written, topic: reading, coverage: cover(reading) }))
    const said = read.filter(({ coverage }) => coverage.covered)
    const unsaid = read[0] ?? { written, topic: written, coverage: nothingSaid(written) }
    parts.push(...(said.length > 0 ? said : [unsaid]))
  }
  // Words that only together say something were not two questions.
  return parts.some(({ coverage }) => coverage.covered) ? allOf(parts) : cover(topic)
}

function nothingSaid(part: string): Coverage {
  const terms = [...new Set(contentTerms(part))]
  return { units: [], missing: terms, relation: terms, share: 0, covered: false }
}

function allOf(parts: readonly CoveredPart[]): Coverage & { readonly parts: readonly CoveredPart[] } {
  const of = parts.map(({ coverage }) => coverage)
  return {
    parts,
    units: [...new Set(of.flatMap(({ units }) => units))],
    missing: [...new Set(of.flatMap(({ covered, missing }) => (covered ? [] : missing)))],
    relation: [...new Set(of.flatMap(({ relation }) => relation))],
    share: of.reduce((sum, { share }) => sum + share, 0) / of.length,
    covered: of.every(({ covered }) => covered),
    unseen: of.flatMap(({ covered, unseen = [] }) => (covered ? [] : unseen)),
  }
}

const ASKS = 'what|which|who|whom|whose|when|where|why|how'
const HELPS = 'is|are|was|were|does|do|did|has|have|had|can'
const PRONOUN = 'it|its|they|them|their|he|him|his|she|her'
/** Where another question begins: at its question word, or at a verb with its subject behind it. */
const BEGINS = new RegExp(
  `,? and (?=(?:(?:in|on|at|to|by|from|for|since) )?(?:${ASKS}) |(?:${HELPS}) (?:${PRONOUN}|the|\\p{Lu}\\p{L}+) )`,
  'u',
)
/** `the country bordering France and which uses the euro`: another clause of one description. */
const DESCRIBES = /[a-z] (?:that|which|whose|whom?|where|\p{Ll}{2,}ing) /u
const MAY_DESCRIBE = /^(?:(?:in|on|at|to|by|from|for|since) )?(?:which|who|whom|whose|where) /
const ASKING = new RegExp(`^(?:(?:in|on|at|to|by|from|for|since) )?(?:${ASKS}|${HELPS}) `, 'i')

/** Parts of one question. */
const MOST_PARTS = 4

/** The questions of one sentence as they stand in it; one where it asks one thing. */
export function cutIntoParts(topic: string): readonly string[] {
  const plain = topic.replace(/\s+/g, ' ').trim()
  if (!ASKING.test(plain) || /\b(?:both|between|either|whether)\b/i.test(plain)) return [plain]
  const parts = plain
    .replace(/[?.!\s]+$/, '')
    .split(/\?\s+(?:and )?/i)
    .flatMap(questionsOf)
  const isEachAsking = parts.every((part) => ASKING.test(`${part} `) && contentTerms(part).length > 0)
  return parts.length > 1 && parts.length <= MOST_PARTS && isEachAsking ? parts.map((part) => `${part}?`) : [plain]
}

function questionsOf(sentence: string): readonly string[] {
  const [first = '', ...more] = sentence.split(BEGINS)
  const isDescription = DESCRIBES.test(first) && more.some((part) => MAY_DESCRIBE.test(part))
  return isDescription || more.some((part) => part.startsWith('whose ')) ? [sentence] : [first, ...more]
}

const PRONOUNS = new RegExp(`\\b(?:${PRONOUN})\\b`, 'giu')

/** Whom a part asks about: the thing it names, or by a pronoun what the first part names or what that is answered by. */
function readPart(written: string, first: CoveredPart | undefined, evidence: readonly ShownEvidence[]): AskedPart {
  const labels = [...new Set(evidence.flatMap(({ label }) => label ?? []))]
  const own = namesIn(written, labels).names
  const found = plainWords(written).filter((word) => new RegExp(`^(?:${PRONOUN})$`).test(word))
  const isBare = own.length === 0 && found.length === 0 && /^what (?:is|are|was|were) the /i.test(written)
  if (first === undefined || (found.length === 0 && !isBare)) return { written, readings: [written] }
  const isPerson = found.some((word) => /^(?:he|him|his|she|her)$/.test(word))
  const readings = meant(first, { labels, evidence, isPerson }).map((name) => withName(written, name))
  return { written, readings }
}

function withName(written: string, name: string): string {
  if (written.search(PRONOUNS) < 0) return written.replace(/\??$/, ` of ${name}?`)
  return written.replace(PRONOUNS, (word) => {
    const isOwner = /^(?:its|their|his)$/i.test(word) || (/^her$/i.test(word) && / her \p{L}/iu.test(written))
    return isOwner ? `${name}'s` : name
  })
}

interface Known {
  readonly labels: readonly string[]
  readonly evidence: readonly ShownEvidence[]
  readonly isPerson: boolean
}

/**
 * `Which country ..` asks for what `it` means behind it, `Who ..` for what `he` means; `the capital of Nepal` may mean
 * either.
 */
function meant({ topic, coverage }: CoveredPart, { labels, evidence, isPerson }: Known): readonly string[] {
  const { names } = namesIn(topic, labels)
  const [name, ...more] = names
  const led = leadsTo(coverage, evidence).filter((label) => !names.includes(label))
  const answer = led.length === 1 ? led : []
  const named = name === undefined || more.length > 0 ? [] : [name]
  if (FOR_PERSON.test(topic)) return isPerson ? answer : named
  if (FOR_THING.test(topic)) return isPerson ? [...answer, ...named] : answer
  return [...named, ...answer]
}

const FOR_PERSON = /^(?:by |to |from |with )?(?:whom?|whose)\b/i
const FOR_THING =
  /^(?:(?:in|on|at|to|by|from|for) )?(?:which|what) (?!is\b|are\b|was\b|were\b|does\b|do\b|did\b|has\b|have\b|had\b)/i

/** Labels of what says it, and of what that leads to. */
function leadsTo({ units, answering }: Coverage, evidence: readonly ShownEvidence[]): readonly string[] {
  const ids = new Set(
    (answering ?? units).filter(({ kind }) => kind === 'fact').flatMap(({ entities }) => [...entities]),
  )
  return [
    ...new Set(evidence.flatMap(({ entity_id, label }) => (label !== undefined && ids.has(entity_id) ? [label] : []))),
  ]
}
