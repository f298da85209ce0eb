import * as z from 'zod'
import { firstJson } from '../text/embedded-json.ts'
import { blankErrors, type Decoded, type PayloadKind, payloadError, readPayload } from './payloads/codec.ts'
import { type RouteDecision, routeDecisionKind, routeErrors } from './payloads/route-decision.ts'
import { type AssessmentOutput, assessmentOutputKind } from './payloads/stage-outputs.ts'

/** A router's answer as a decision that holds for so many candidates. Errors are what it is asked once more with. */
export function readRouteAnswer(text: string, candidates: number): Decoded<RouteDecision> {
  const read = readPayload(routeDecisionKind, firstJson(text))
  if (!read.ok) return read
  const errors = routeErrors(read.value, candidates)
  return errors.length === 0 ? read : { ok: false, errors }
}

/** An assessor's answer; topic and count are known and not for it to say. */
export function readAssessmentAnswer(text: string, topic: string, evidence_count: number): Decoded<AssessmentOutput> {
  const answer = firstJson(text)
  const isObject = typeof answer === 'object' && answer !== null && !Array.isArray(answer)
  return readPayload(assessmentOutputKind, isObject ? { ...answer, topic, evidence_count } : answer)
}

/** A synthesizer's answer: nothing but its `synthesis` is looked at. */
export function readSynthesisAnswer(text: string): Decoded<string> {
  const answer = firstJson(text)
  const read = readPayload(SYNTHESIS_ANSWER, answer)
  return read.ok ? { ok: true, value: read.value.synthesis } : read
}

/** A judge's answer: why it doubts which of so many sentences, by their number from 1. */
export function readJudgeAnswer(text: string, sentences: number): Decoded<ReadonlyMap<number, string>> {
  const read = readPayload(DOUBTS_ANSWER, firstJson(text))
  if (!read.ok) return read
  const unknown = read.value.doubts.find(({ sentence }) => sentence > sentences)
  if (unknown !== undefined)
    return {
      ok: false,
      errors: [payloadError('field_range', 'doubts', `names sentence ${unknown.sentence} of ${sentences}`)],
    }
  return { ok: true, value: new Map(read.value.doubts.map(({ sentence, why }) => [sentence, why.slice(0, 300)])) }
}

const DOUBTS_ANSWER: PayloadKind<{ readonly doubts: readonly { readonly sentence: number; readonly why: string }[] }> =
  {
    schema: z.object({
      doubts: z.array(z.object({ sentence: z.int().min(1), why: z.string().default('the judge doubts it') })),
    }),
    validate: () => [],
  }

/** Of one answer, in characters: its sentences and numbers are all checked. */
const SYNTHESIS_CHARACTERS = 100_000

const SYNTHESIS_ANSWER: PayloadKind<{ readonly synthesis: string }> = {
  schema: z.object({ synthesis: z.string() }),
  validate: ({ synthesis }) => [
    ...blankErrors('synthesis', synthesis),
    ...(synthesis.length <= SYNTHESIS_CHARACTERS ? [] : [payloadError('field_range', 'synthesis', TOO_LONG)]),
  ],
}

const TOO_LONG = `has more than ${SYNTHESIS_CHARACTERS} characters`
