import { quotationsIn } from '../text/quotations.ts'
import { checkQuote, type QuoteIndex } from '../text/verbatim-quotes.ts'
import { type EvidenceSource, sourceOf } from './criteria/criterion.ts'
import type { Evidence, JudgedFinding, LocatedMarker } from './evidence.ts'
import { metricValue, normaliseDashes } from './marker.ts'

/** One question put to a claim, and what the stored evidence answers. */
export interface Challenge {
  /** What is asked about; `GOAL_CLAIM_MISMATCH`: SUCCESS is claimed, and the goal gate does not pass. */
  readonly type: 'ci' | 'effect_size' | 'p_value' | 'reference' | 'metric' | 'artifact' | 'GOAL_CLAIM_MISMATCH'
  /** `unsupported`: the evidence says nothing about it, neither for nor against. */
  readonly outcome: 'upheld' | 'refuted' | 'unsupported'
  /** One sentence without a full stop. */
  readonly message: string
  readonly source: EvidenceSource | null
}

/** What claims are checked against. */
export interface CheckedRecord {
  readonly evidence: Evidence
  readonly quotes: QuoteIndex
}

/** Asks one finding at least one question: adding one is a function in a file and a line in registry.ts. */
export type Challenger = (finding: JudgedFinding, record: CheckedRecord) => readonly Challenge[]

/** Are the statistics of a finding there, readable and possible? */
export function challengeStatistics({ finding, before, ci, effect_size }: JudgedFinding): readonly Challenge[] {
  const p = before.find(({ type, subtype }) => type === 'STAT' && subtype === 'p_value')
  return [
    asked('ci', finding, ci, ciAnswer),
    asked('effect_size', finding, effect_size, effectAnswer),
    ...(p === undefined ? [] : [asked('p_value', finding, p, pAnswer)]),
  ]
}

type Answer = Pick<Challenge, 'outcome' | 'message'>

function asked(
  type: Challenge['type'],
  finding: LocatedMarker,
  marker: LocatedMarker | undefined,
  answer: (content: string) => Answer,
): Challenge {
  if (marker !== undefined) return { type, ...answer(marker.content), source: sourceOf(marker) }
  const message = `the finding of line ${finding.line} has no [STAT:${type}]`
  return { type, outcome: 'unsupported', message, source: sourceOf(finding) }
}

const NUMBER = '[+-]?(?:\\d+(?:\\.\\d+)?|\\.\\d+)(?:[eE][+-]?\\d+)?'
/** Not from within a number: a long one would be tried from each of its digits. */
const INTERVAL = new RegExp(
  `(${NUMBER.replace('\\d', '(?<!\\d)\\d')})\\s*(?:,|;|\\.\\.|to|and|–|-(?=\\s))\\s*(${NUMBER})`,
)
/** No part of a word, so that the 5 of `SHA5` and the 2 of `R2` are none. */
const ANY_NUMBER = new RegExp(`(?<![\\w.])(${NUMBER})(?![\\w])`)

function ciAnswer(content: string): Answer {
  const match = INTERVAL.exec(content)
  if (match === null) return { outcome: 'unsupported', message: 'the interval has no two ends that can be read' }
  const [low, high] = [Number(match[1]), Number(match[2])]
  if (low > high) return { outcome: 'refuted', message: `the interval ends before it begins: ${low} to ${high}` }
  return { outcome: 'upheld', message: `the interval is ${low} to ${high}` }
}

function effectAnswer(content: string): Answer {
  const seen = ANY_NUMBER.exec(content)?.[1]
  if (seen === undefined) return { outcome: 'unsupported', message: 'the effect size has no number' }
  return { outcome: 'upheld', message: `the effect size is ${Number(seen)}` }
}

function pAnswer(content: string): Answer {
  const seen = ANY_NUMBER.exec(content)?.[1]
  if (seen === undefined) return { outcome: 'unsupported', message: 'the p-value has no number' }
  const p = Number(seen)
  if (p >= 0 && p <= 1) return { outcome: 'upheld', message: `the p-value is ${p}` }
  return { outcome: 'refuted', message: `a p-value is from 0 to 1, this one is ${p}` }
}

/** Does what a finding and the citations before it quote stand in the stored sources, word for word? */
export function challengeReferences({ finding, before }: JudgedFinding, record: CheckedRecord): readonly Challenge[] {
  const citations = before.filter(({ type }) => type === 'CITATION').toReversed()
  const found = [...citations, finding].flatMap((marker) => referenceChallenges(marker, record.quotes))
  if (found.length > 0) return found
  const message = `the finding of line ${finding.line} quotes nothing and cites nothing`
  return [{ type: 'reference', outcome: 'unsupported', message, source: sourceOf(finding) }]
}

/** The same of one marker: the source a citation names is stored, and each quotation stands in it. */
function referenceChallenges(marker: LocatedMarker, index: QuoteIndex): readonly Challenge[] {
  const id = marker.type === 'CITATION' ? marker.subtype : undefined
  const source = sourceOf(marker)
  const quotes = quotationsIn(marker.content).flatMap(({ quote }): readonly Challenge[] => {
    const finding = checkQuote(index, quote, id)
    if (finding === undefined) return []
    const upheld = finding.verdict === 'found'
    const message = `the quotation ${JSON.stringify(quote.slice(0, 80))} ${VERDICTS[finding.verdict]}`
    return [{ type: 'reference', outcome: upheld ? 'upheld' : 'refuted', message, source }]
  })
  if (id === undefined) return quotes
  const stored = index.bodies.some((body) => body.source.id === id)
  const message = `the source ${JSON.stringify(id)} is ${stored ? '' : 'not '}stored`
  return [{ type: 'reference', outcome: stored ? 'upheld' : 'refuted', message, source }, ...quotes]
}

const VERDICTS = {
  found: 'is found',
  cut: 'stands there only right behind what denies it',
  misattributed: 'stands in another source than the one named',
  frankenquote: 'is put together from parts',
  not_found: 'stands in no stored source',
} as const

/** Are the metrics a finding states (`cv_accuracy_mean = 0.91`) the ones that were measured last? */
export function challengeMetrics({ finding }: JudgedFinding, { evidence }: CheckedRecord): readonly Challenge[] {
  const stated = [...finding.content.matchAll(STATEMENT)].flatMap(([, name = '', value = '']) => {
    const measured = lastMetric(name, evidence)
    return measured === undefined ? [] : [compared(name, value, measured)]
  })
  if (stated.length > 0) return stated
  const message = `the finding of line ${finding.line} states no metric that was measured`
  return [{ type: 'metric', outcome: 'unsupported', message, source: sourceOf(finding) }]
}

const STATEMENT =
  /\b([A-Za-z][\w-]{0,99})\s*(?:=|:|of|is)\s*([+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)(?![\w%]|[.,]\d)/g

function lastMetric(name: string, { markers }: Evidence): LocatedMarker | undefined {
  return markers.findLast(({ type, subtype }) => type === 'METRIC' && subtype === normaliseDashes(name))
}

function compared(name: string, stated: string, measured: LocatedMarker): Challenge {
  const read = metricValue(measured.content)
  const source = sourceOf(measured)
  if (!read.ok) {
    return {
      type: 'metric',
      outcome: 'refuted',
      message: `${name} is stated as ${stated}, but no number was measured`,
      source,
    }
  }
  const same = Math.abs(read.value - Number(stated)) <= roundingOf(stated)
  const message = `${name} is stated as ${stated} and was measured as ${read.value}`
  return { type: 'metric', outcome: same ? 'upheld' : 'refuted', message, source }
}

/** Half of the last digit that is written: 0.91 may be said of 0.9149. */
function roundingOf(stated: string): number {
  const [mantissa = '', exponent = '0'] = stated.toLowerCase().split('e')
  const decimals = mantissa.split('.')[1]?.length ?? 0
  return 0.5 * 10 ** (Number(exponent) - decimals)
}

/** Do the artifacts a finding rests on exist, with the sha256 they are said to have? */
export function challengeArtifacts(
  { finding, before }: JudgedFinding,
  { evidence }: CheckedRecord,
): readonly Challenge[] {
  const named = before.filter(({ type }) => type === 'ARTIFACT').toReversed()
  if (named.length > 0) return named.map((marker) => artifactChallenge(marker, evidence))
  const message = `the finding of line ${finding.line} names no artifact`
  return [{ type: 'artifact', outcome: 'unsupported', message, source: sourceOf(finding) }]
}

/** The same of one `[ARTIFACT] path` line; its path is the first word. */
function artifactChallenge(marker: LocatedMarker, { artifacts }: Evidence): Challenge {
  const path = /^\S*/.exec(marker.content)?.[0] ?? ''
  const stored = artifacts.find(({ name }) => name === path)
  const said = marker.attributes.sha256
  if (stored === undefined) {
    const message = `the artifact ${JSON.stringify(path)} does not exist`
    return { type: 'artifact', outcome: 'refuted', message, source: sourceOf(marker) }
  }
  if (said !== undefined && said !== stored.sha256) {
    const message = `the artifact ${path} has another sha256 than the one named`
    return { type: 'artifact', outcome: 'refuted', message, source: sourceOf(stored) }
  }
  return { type: 'artifact', outcome: 'upheld', message: `the artifact ${path} exists`, source: sourceOf(stored) }
}
