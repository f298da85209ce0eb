import * as z from 'zod'
import { CandidateSchema } from './candidate.ts'
import { type Decoded, decodePayload } from './decode-payload.ts'
import { extractiveAnswer } from './extractive-answer.ts'
import { extractiveAssess } from './extractive-assess.ts'
import { extractiveRoute } from './extractive-route.ts'

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
export function extractiveText(stage: AskingStage, inputs: unknown): Decoded<string> {
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
