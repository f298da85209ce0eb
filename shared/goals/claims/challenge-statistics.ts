import { sourceOf } from '../criteria/source-of.ts'
import type { PlacedMarker } from '../evidence.ts'
import type { JudgedFinding } from '../verified-findings.ts'
import type { Challenge } from './challenge.ts'

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
  finding: PlacedMarker,
  marker: PlacedMarker | undefined,
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
